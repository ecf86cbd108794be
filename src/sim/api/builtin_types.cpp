#include "sim/api/types.h"

namespace trainyard::sim {

// The built-in types as far as Trainyard's programs use them, one struct per paragraph: "name type flags".
// s string, i integer, b bool, q quantity, t Time, mt MicroTime, io IntOrString, by bytes, any: kept
// unchanged
// {}x map of string to x, []x list of x, *x pointer (an explicit zero value is kept)
// ! written even if empty, @KEY merged by KEY in a strategic merge, @ merged as a set, % supports
// $retainKeys
// Volume sources that no training job is expected to use are `any`.
const char* builtinTypeText() {
  return R"(
OwnerReference: apiVersion s!; kind s!; name s!; uid s!; controller *b; blockOwnerDeletion *b
ObjectMeta: name s; generateName s; namespace s; uid s; resourceVersion s; generation i;
  creationTimestamp t; deletionTimestamp *t; deletionGracePeriodSeconds *i; labels {}s; annotations {}s;
  ownerReferences []OwnerReference@uid; finalizers []s@
HostPathVolumeSource: path s!; type *s
EmptyDirVolumeSource: medium s; sizeLimit *q
KeyToPath: key s!; path s!; mode *i
SecretVolumeSource: secretName s; items []KeyToPath; defaultMode *i; optional *b
NFSVolumeSource: server s!; path s!; readOnly b
PersistentVolumeClaimVolumeSource: claimName s!; readOnly b
ObjectFieldSelector: apiVersion s; fieldPath s!
ResourceFieldSelector: containerName s; resource s!; divisor q!
DownwardAPIVolumeFile: path s!; fieldRef *ObjectFieldSelector; resourceFieldRef *ResourceFieldSelector;
  mode *i
DownwardAPIVolumeSource: items []DownwardAPIVolumeFile; defaultMode *i
ConfigMapVolumeSource: name s; items []KeyToPath; defaultMode *i; optional *b
SecretProjection: name s; items []KeyToPath; optional *b
DownwardAPIProjection: items []DownwardAPIVolumeFile
ConfigMapProjection: name s; items []KeyToPath; optional *b
ServiceAccountTokenProjection: audience s; expirationSeconds *i; path s!
VolumeProjection: secret *SecretProjection; downwardAPI *DownwardAPIProjection; configMap
  *ConfigMapProjection; serviceAccountToken *ServiceAccountTokenProjection; clusterTrustBundle any;
  podCertificate any
ProjectedVolumeSource: sources []VolumeProjection!; defaultMode *i
Volume: name s!; hostPath *HostPathVolumeSource; emptyDir *EmptyDirVolumeSource; gcePersistentDisk any;
  awsElasticBlockStore any; gitRepo any; secret *SecretVolumeSource; nfs *NFSVolumeSource; iscsi any;
  glusterfs any; persistentVolumeClaim *PersistentVolumeClaimVolumeSource; rbd any; flexVolume any;
  cinder any; cephfs any; flocker any; downwardAPI *DownwardAPIVolumeSource; fc any; azureFile any;
  configMap *ConfigMapVolumeSource; vsphereVolume any; quobyte any; azureDisk any; photonPersistentDisk
  any; projected *ProjectedVolumeSource; portworxVolume any; scaleIO any; storageos any; csi any;
  ephemeral any; image any
ContainerPort: name s; hostPort i; containerPort i!; protocol s; hostIP s
ConfigMapEnvSource: name s; optional *b
SecretEnvSource: name s; optional *b
EnvFromSource: prefix s; configMapRef *ConfigMapEnvSource; secretRef *SecretEnvSource
ConfigMapKeySelector: name s; key s!; optional *b
SecretKeySelector: name s; key s!; optional *b
EnvVarSource: fieldRef *ObjectFieldSelector; resourceFieldRef *ResourceFieldSelector; configMapKeyRef
  *ConfigMapKeySelector; secretKeyRef *SecretKeySelector; fileKeyRef any
EnvVar: name s!; value s; valueFrom *EnvVarSource
ResourceClaim: name s!; request s
ResourceRequirements: limits {}q; requests {}q; claims []ResourceClaim
ContainerResizePolicy: resourceName s!; restartPolicy s!
ContainerRestartRuleOnExitCodes: operator s; values []i
ContainerRestartRule: action s; exitCodes *ContainerRestartRuleOnExitCodes
VolumeMount: name s!; readOnly b; recursiveReadOnly *s; mountPath s!; subPath s; mountPropagation *s;
  subPathExpr s
VolumeDevice: name s!; devicePath s!
ExecAction: command []s
HTTPHeader: name s!; value s!
HTTPGetAction: path s; port io!; host s; scheme s; httpHeaders []HTTPHeader
TCPSocketAction: port io!; host s
GRPCAction: port i!; service *s!
Probe: exec *ExecAction; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; grpc *GRPCAction;
  initialDelaySeconds i; timeoutSeconds i; periodSeconds i; successThreshold i; failureThreshold i;
  terminationGracePeriodSeconds *i
SleepAction: seconds i!
LifecycleHandler: exec *ExecAction; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; sleep
  *SleepAction
Lifecycle: postStart *LifecycleHandler; preStop *LifecycleHandler; stopSignal *s
Capabilities: add []s; drop []s
SELinuxOptions: user s; role s; type s; level s
SeccompProfile: type s!; localhostProfile *s
AppArmorProfile: type s!; localhostProfile *s
SecurityContext: capabilities *Capabilities; privileged *b; seLinuxOptions *SELinuxOptions;
  windowsOptions any; runAsUser *i; runAsGroup *i; runAsNonRoot *b; readOnlyRootFilesystem *b;
  allowPrivilegeEscalation *b; procMount *s; seccompProfile *SeccompProfile; appArmorProfile
  *AppArmorProfile
Container: name s!; image s; command []s; args []s; workingDir s; ports []ContainerPort@containerPort;
  envFrom []EnvFromSource; env []EnvVar@name; resources ResourceRequirements; resizePolicy
  []ContainerResizePolicy; restartPolicy *s; restartPolicyRules []ContainerRestartRule; volumeMounts
  []VolumeMount@mountPath; volumeDevices []VolumeDevice@devicePath; livenessProbe *Probe; readinessProbe
  *Probe; startupProbe *Probe; lifecycle *Lifecycle; terminationMessagePath s; terminationMessagePolicy
  s; imagePullPolicy s; securityContext *SecurityContext; stdin b; stdinOnce b; tty b
Sysctl: name s!; value s!
PodSecurityContext: seLinuxOptions *SELinuxOptions; windowsOptions any; runAsUser *i; runAsGroup *i;
  runAsNonRoot *b; supplementalGroups []i; supplementalGroupsPolicy *s; fsGroup *i; sysctls []Sysctl;
  fsGroupChangePolicy *s; seccompProfile *SeccompProfile; appArmorProfile *AppArmorProfile;
  seLinuxChangePolicy *s
LocalObjectReference: name s
NodeSelectorRequirement: key s!; operator s!; values []s
NodeSelectorTerm: matchExpressions []NodeSelectorRequirement; matchFields []NodeSelectorRequirement
NodeSelector: nodeSelectorTerms []NodeSelectorTerm!
PreferredSchedulingTerm: weight i!; preference NodeSelectorTerm!
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution *NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
LabelSelectorRequirement: key s!; operator s!; values []s
LabelSelector: matchLabels {}s; matchExpressions []LabelSelectorRequirement
PodAffinityTerm: labelSelector *LabelSelector; namespaces []s; topologyKey s!; namespaceSelector
  *LabelSelector; matchLabelKeys []s; mismatchLabelKeys []s
WeightedPodAffinityTerm: weight i!; podAffinityTerm PodAffinityTerm!
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm;
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm;
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
Affinity: nodeAffinity *NodeAffinity; podAffinity *PodAffinity; podAntiAffinity *PodAntiAffinity
Toleration: key s; operator s; value s; effect s; tolerationSeconds *i
HostAlias: ip s!; hostnames []s
PodDNSConfigOption: name s; value *s
PodDNSConfig: nameservers []s; searches []s; options []PodDNSConfigOption
PodReadinessGate: conditionType s!
TopologySpreadConstraint: maxSkew i!; topologyKey s!; whenUnsatisfiable s!; labelSelector
  *LabelSelector; minDomains *i; nodeAffinityPolicy *s; nodeTaintsPolicy *s; matchLabelKeys []s
PodOS: name s!
PodSchedulingGate: name s!
PodSpec: volumes []Volume@name%; initContainers []Container@name; containers []Container@name!;
  ephemeralContainers []any@; restartPolicy s; terminationGracePeriodSeconds *i; activeDeadlineSeconds
  *i; dnsPolicy s; nodeSelector {}s; serviceAccountName s; serviceAccount s;
  automountServiceAccountToken *b; nodeName s; hostNetwork b; hostPID b; hostIPC b;
  shareProcessNamespace *b; securityContext *PodSecurityContext; imagePullSecrets
  []LocalObjectReference@name; hostname s; subdomain s; affinity *Affinity; schedulerName s; tolerations
  []Toleration; hostAliases []HostAlias@ip; priorityClassName s; priority *i; dnsConfig *PodDNSConfig;
  readinessGates []PodReadinessGate; runtimeClassName *s; enableServiceLinks *b; preemptionPolicy *s;
  overhead {}q; topologySpreadConstraints []TopologySpreadConstraint@topologyKey; setHostnameAsFQDN *b;
  os *PodOS; hostUsers *b; schedulingGates []PodSchedulingGate@name; resourceClaims []any@%; resources
  *ResourceRequirements; hostnameOverride *s; schedulingGroup any
PodCondition: type s!; observedGeneration i; status s!; lastProbeTime t!; lastTransitionTime t!; reason
  s; message s
HostIP: ip s!
PodIP: ip s!
ContainerStateWaiting: reason s; message s
ContainerStateRunning: startedAt t!
ContainerStateTerminated: exitCode i!; signal i; reason s; message s; startedAt t!; finishedAt t!;
  containerID s
ContainerState: waiting *ContainerStateWaiting; running *ContainerStateRunning; terminated
  *ContainerStateTerminated
ContainerStatus: name s!; state ContainerState; lastState ContainerState; ready b!; restartCount i!;
  image s!; imageID s!; containerID s; started *b; allocatedResources {}q; resources
  *ResourceRequirements; volumeMounts []any@; user any; allocatedResourcesStatus []any@; stopSignal *s
NodeAllocatableResourceClaimStatus: resourceClaimName s!; containers []s; resources {}q!
PodStatus: observedGeneration i; phase s; conditions []PodCondition@type; message s; reason s;
  nominatedNodeName s; hostIP s; hostIPs []HostIP@ip; podIP s; podIPs []PodIP@ip; startTime *t;
  initContainerStatuses []ContainerStatus; containerStatuses []ContainerStatus; qosClass s;
  ephemeralContainerStatuses []ContainerStatus; resize s; resourceClaimStatuses []any@%;
  extendedResourceClaimStatus any; allocatedResources {}q; resources *ResourceRequirements;
  nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus
Pod: metadata ObjectMeta; spec PodSpec; status PodStatus
ServicePort: name s; protocol s; appProtocol *s; port i!; targetPort io!; nodePort i
ServiceSpec: ports []ServicePort@port; selector {}s; clusterIP s; clusterIPs []s; type s; externalIPs
  []s; sessionAffinity s; loadBalancerIP s; loadBalancerSourceRanges []s; externalName s;
  externalTrafficPolicy s; healthCheckNodePort i; publishNotReadyAddresses b; sessionAffinityConfig any;
  ipFamilies []s; ipFamilyPolicy *s; allocateLoadBalancerNodePorts *b; loadBalancerClass *s;
  internalTrafficPolicy *s; trafficDistribution *s
PortStatus: port i!; protocol s!; error *s
LoadBalancerIngress: ip s; hostname s; ipMode *s; ports []PortStatus
LoadBalancerStatus: ingress []LoadBalancerIngress
Condition: type s!; status s!; observedGeneration i; lastTransitionTime t!; reason s!; message s!
ServiceStatus: loadBalancer LoadBalancerStatus; conditions []Condition@type
Service: metadata ObjectMeta; spec ServiceSpec; status ServiceStatus
ConfigMap: metadata ObjectMeta; immutable *b; data {}s; binaryData {}by
Taint: key s!; value s; effect s!; timeAdded *t
NodeSpec: podCIDR s; podCIDRs []s@; providerID s; unschedulable b; taints []Taint; configSource any;
  externalID s
NodeCondition: type s!; status s!; lastHeartbeatTime t!; lastTransitionTime t!; reason s; message s
NodeAddress: type s!; address s!
DaemonEndpoint: Port i!
NodeDaemonEndpoints: kubeletEndpoint DaemonEndpoint
NodeSwapStatus: capacity *i
NodeSystemInfo: machineID s!; systemUUID s!; bootID s!; kernelVersion s!; osImage s!;
  containerRuntimeVersion s!; kubeletVersion s!; kubeProxyVersion s!; operatingSystem s!; architecture
  s!; swap *NodeSwapStatus
ContainerImage: names []s!; sizeBytes i
AttachedVolume: name s!; devicePath s!
NodeStatus: capacity {}q; allocatable {}q; phase s; conditions []NodeCondition@type; addresses
  []NodeAddress@type; daemonEndpoints NodeDaemonEndpoints; nodeInfo NodeSystemInfo; images
  []ContainerImage; volumesInUse []s; volumesAttached []AttachedVolume; config any; runtimeHandlers
  []any; features any; declaredFeatures []s
Node: metadata ObjectMeta; spec NodeSpec; status NodeStatus
NamespaceSpec: finalizers []s
NamespaceCondition: type s!; status s!; lastTransitionTime t!; reason s; message s
NamespaceStatus: phase s; conditions []NamespaceCondition@type
Namespace: metadata ObjectMeta; spec NamespaceSpec; status NamespaceStatus
ObjectReference: kind s; namespace s; name s; uid s; apiVersion s; resourceVersion s; fieldPath s
EventSource: component s; host s
EventSeries: count i; lastObservedTime mt!
Event: metadata ObjectMeta!; involvedObject ObjectReference!; reason s; message s; source EventSource;
  firstTimestamp t!; lastTimestamp t!; count i; type s; eventTime mt!; series *EventSeries; action s;
  related *ObjectReference; reportingComponent s!; reportingInstance s!
EventsEventSeries: count i!; lastObservedTime mt!
EventsEvent: metadata ObjectMeta!; eventTime mt!; series *EventsEventSeries; reportingController s;
  reportingInstance s; action s; reason s; regarding ObjectReference; related *ObjectReference; note s;
  type s; deprecatedSource EventSource; deprecatedFirstTimestamp t!; deprecatedLastTimestamp t!;
  deprecatedCount i
LeaseSpec: holderIdentity *s; leaseDurationSeconds *i; acquireTime *mt; renewTime *mt; leaseTransitions
  *i; strategy *s; preferredHolder *s
Lease: metadata ObjectMeta; spec LeaseSpec
PriorityClass: metadata ObjectMeta; value i!; globalDefault b; description s; preemptionPolicy *s
PersistentVolumeClaim: metadata ObjectMeta; spec any; status any
PersistentVolume: metadata ObjectMeta; spec any; status any
PodDisruptionBudget: metadata ObjectMeta; spec any; status any
PodTemplate: metadata ObjectMeta; template any
Job: metadata ObjectMeta; spec any; status any
ReplicaSet: metadata ObjectMeta; spec any; status any
StorageClass: metadata ObjectMeta; provisioner s!; volumeBindingMode *s; parameters any; reclaimPolicy *s;
  allowedTopologies any
CSIDriver: metadata ObjectMeta; spec any
CSINode: metadata ObjectMeta; spec any
ServiceAccount: metadata ObjectMeta; secrets []ObjectReference@name; imagePullSecrets
  []LocalObjectReference; automountServiceAccountToken *b
LimitRangeItem: type s!; max {}q; min {}q; default {}q; defaultRequest {}q; maxLimitRequestRatio {}q
LimitRangeSpec: limits []LimitRangeItem!
LimitRange: metadata ObjectMeta; spec LimitRangeSpec
ResourceQuotaSpec: hard {}q; scopes []s; scopeSelector any
ResourceQuotaStatus: hard {}q; used {}q
ResourceQuota: metadata ObjectMeta; spec ResourceQuotaSpec; status ResourceQuotaStatus
Binding: metadata ObjectMeta; target ObjectReference!
Preconditions: uid s; resourceVersion *s
DeleteOptions: gracePeriodSeconds *i; preconditions *Preconditions; orphanDependents *b;
  propagationPolicy *s; dryRun []s; ignoreStoreReadErrorWithClusterBreakingPotential *b
)";
}

}  // namespace trainyard::sim
