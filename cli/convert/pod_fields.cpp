#include "cli/convert/pod_fields.h"

#include <algorithm>
#include <array>
#include <span>

namespace trainyard::cli {
namespace {

struct Field {
  std::string_view name;
  std::string_view type = {};
};

// The fields of Kubernetes 1.36 (k8s.io/api/core/v1).
constexpr std::array kPodSpec{Field{"activeDeadlineSeconds"},
                              Field{"affinity"},
                              Field{"automountServiceAccountToken"},
                              Field{"containers", "Container"},
                              Field{"dnsConfig"},
                              Field{"dnsPolicy"},
                              Field{"enableServiceLinks"},
                              Field{"ephemeralContainers"},
                              Field{"hostAliases"},
                              Field{"hostIPC"},
                              Field{"hostNetwork"},
                              Field{"hostPID"},
                              Field{"hostUsers"},
                              Field{"hostname"},
                              Field{"hostnameOverride"},
                              Field{"imagePullSecrets"},
                              Field{"initContainers", "Container"},
                              Field{"nodeName"},
                              Field{"nodeSelector"},
                              Field{"os"},
                              Field{"overhead"},
                              Field{"preemptionPolicy"},
                              Field{"priority"},
                              Field{"priorityClassName"},
                              Field{"readinessGates"},
                              Field{"resourceClaims"},
                              Field{"resources"},
                              Field{"restartPolicy"},
                              Field{"runtimeClassName"},
                              Field{"schedulerName"},
                              Field{"schedulingGates"},
                              Field{"schedulingGroup"},
                              Field{"securityContext"},
                              Field{"serviceAccount"},
                              Field{"serviceAccountName"},
                              Field{"setHostnameAsFQDN"},
                              Field{"shareProcessNamespace"},
                              Field{"subdomain"},
                              Field{"terminationGracePeriodSeconds"},
                              Field{"tolerations", "Toleration"},
                              Field{"topologySpreadConstraints"},
                              Field{"volumes", "Volume"},
                              Field{"workloadRef"}};

constexpr std::array kContainer{Field{"args"},
                                Field{"command"},
                                Field{"env", "EnvVar"},
                                Field{"envFrom"},
                                Field{"image"},
                                Field{"imagePullPolicy"},
                                Field{"lifecycle"},
                                Field{"livenessProbe"},
                                Field{"name"},
                                Field{"ports", "ContainerPort"},
                                Field{"readinessProbe"},
                                Field{"resizePolicy"},
                                Field{"resources", "Resources"},
                                Field{"restartPolicy"},
                                Field{"restartPolicyRules"},
                                Field{"securityContext"},
                                Field{"startupProbe"},
                                Field{"stdin"},
                                Field{"stdinOnce"},
                                Field{"terminationMessagePath"},
                                Field{"terminationMessagePolicy"},
                                Field{"tty"},
                                Field{"volumeDevices"},
                                Field{"volumeMounts", "VolumeMount"},
                                Field{"workingDir"}};

constexpr std::array kEnvVar{Field{"name"}, Field{"value"}, Field{"valueFrom"}};
constexpr std::array kPort{Field{"containerPort"}, Field{"hostIP"}, Field{"hostPort"}, Field{"name"},
                           Field{"protocol"}};
constexpr std::array kResources{Field{"claims"}, Field{"limits"}, Field{"requests"}};
constexpr std::array kMount{Field{"mountPath"},  Field{"mountPropagation"},  Field{"name"},
                            Field{"readOnly"},   Field{"recursiveReadOnly"}, Field{"subPath"},
                            Field{"subPathExpr"}};
constexpr std::array kToleration{Field{"effect"}, Field{"key"}, Field{"operator"}, Field{"tolerationSeconds"},
                                 Field{"value"}};
constexpr std::array kVolume{Field{"awsElasticBlockStore"},
                             Field{"azureDisk"},
                             Field{"azureFile"},
                             Field{"cephfs"},
                             Field{"cinder"},
                             Field{"configMap"},
                             Field{"csi"},
                             Field{"downwardAPI"},
                             Field{"emptyDir"},
                             Field{"ephemeral"},
                             Field{"fc"},
                             Field{"flexVolume"},
                             Field{"flocker"},
                             Field{"gcePersistentDisk"},
                             Field{"gitRepo"},
                             Field{"glusterfs"},
                             Field{"hostPath"},
                             Field{"image"},
                             Field{"iscsi"},
                             Field{"name"},
                             Field{"nfs"},
                             Field{"persistentVolumeClaim"},
                             Field{"photonPersistentDisk"},
                             Field{"portworxVolume"},
                             Field{"projected"},
                             Field{"quobyte"},
                             Field{"rbd"},
                             Field{"scaleIO"},
                             Field{"secret"},
                             Field{"storageos"},
                             Field{"vsphereVolume"}};

struct Type {
  std::string_view name;
  std::span<const Field> fields;
};

constexpr std::array<Type, 8> kTypes{{{"PodSpec", kPodSpec},
                                      {"Container", kContainer},
                                      {"EnvVar", kEnvVar},
                                      {"ContainerPort", kPort},
                                      {"Resources", kResources},
                                      {"VolumeMount", kMount},
                                      {"Toleration", kToleration},
                                      {"Volume", kVolume}}};

}  // namespace

std::optional<std::string_view> podField(std::string_view type, std::string_view field) {
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& each) { return each.name == type; });
  if (found == kTypes.end()) return std::string_view();
  const auto at = std::find_if(found->fields.begin(), found->fields.end(),
                               [&](const Field& each) { return each.name == field; });
  if (at == found->fields.end()) return std::nullopt;
  return at->type;
}

}  // namespace trainyard::cli
