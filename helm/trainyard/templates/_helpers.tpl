{{- define "trainyard.labels" -}}
app.kubernetes.io/part-of: trainyard
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Prefix of the names of all objects. */}}
{{- define "trainyard.name" -}}
{{ .Values.fullnameOverride | default .Values.nameOverride | default "trainyard" }}
{{- end }}

{{/* Labels that select the pods of a program: {root, name}. They never change, because a Deployment's selector is immutable. */}}
{{- define "trainyard.selector" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{/* Labels of the pods. None changes with the chart's version alone, because that would restart the pods. */}}
{{- define "trainyard.podLabels" -}}
app.kubernetes.io/part-of: trainyard
{{ include "trainyard.selector" . }}
{{- with merge (dict) (.values.podLabels | default dict) .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "trainyard.image" -}}
{{ .root.Values.image.registry }}/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- with get .root.Values.image.digests .name }}@{{ . }}{{ end }}
{{- end }}

{{- define "trainyard.serverSecret" -}}
{{- if eq .Values.certificates.source "existing" -}}
{{ required "certificates.existing.serverSecret is needed with certificates.source existing" .Values.certificates.existing.serverSecret }}
{{- else -}}
{{ include "trainyard.name" . }}-extender-tls
{{- end -}}
{{- end }}

{{- define "trainyard.clientSecret" -}}
{{- if eq .Values.certificates.source "existing" -}}
{{ required "certificates.existing.clientSecret is needed by the second scheduler with certificates.source existing" .Values.certificates.existing.clientSecret }}
{{- else -}}
{{ include "trainyard.name" . }}-extender-client
{{- end -}}
{{- end }}

{{- define "trainyard.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "trainyard.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Node selection for a program's pods: {values, name, root}. */}}
{{- define "trainyard.placement" -}}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
affinity:
{{- if .values.affinity }}
  {{- toYaml .values.affinity | nindent 2 }}
{{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "trainyard.selector" . | nindent 12 }}
{{- end }}
{{- if .values.topologySpread }}
topologySpreadConstraints:
{{- range .values.topologySpread }}
- labelSelector:
    matchLabels: {{- include "trainyard.selector" $ | nindent 6 }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Annotations by which Prometheus can discover pods: {port, root}. */}}
{{- define "trainyard.scrapeAnnotations" -}}
{{- if .root.Values.metrics.annotations }}
prometheus.io/scrape: "true"
prometheus.io/port: {{ .port | quote }}
{{- if .root.Values.metrics.secure }}
prometheus.io/scheme: https
{{- end }}
{{- end }}
{{- end }}

{{/* Annotations of a program's pods: {values, port, root}. */}}
{{- define "trainyard.podAnnotations" -}}
{{- include "trainyard.scrapeAnnotations" . }}
{{- with concat (.root.Values.policy.gpuResources | default list) (.root.Values.policy.deviceClasses | default list) }}
# The program reads these only when it starts.
trainyard.dev/gpu-resources: {{ toJson . | sha256sum | trunc 16 | quote }}
{{- end }}
{{- with .values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "trainyard.probes" -}}
{{- $scheme := ternary ", scheme: HTTPS" "" .Values.metrics.secure }}
readinessProbe:
  httpGet: {path: /readyz, port: metrics{{ $scheme }}}
  periodSeconds: 2
livenessProbe:
  httpGet: {path: /healthz, port: metrics{{ $scheme }}}
  initialDelaySeconds: 10
  periodSeconds: 10
  failureThreshold: 6
{{- end }}

{{/* Rights to review the identity and the permissions of clients that request metrics. */}}
{{- define "trainyard.reviewRules" -}}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}

{{/* Part of a ServiceMonitor's endpoint: the scheme and the token. */}}
{{- define "trainyard.scrapeToken" -}}
{{- if .Values.metrics.secure -}}
scheme: https
{{- with .Values.metrics.serviceMonitor.tokenSecret }}
authorization:
  credentials: {name: {{ .name }}, key: {{ .key }}}
{{- else }}
bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
{{- end }}
{{- end -}}
{{- end }}

{{/* Host of the address that a program listens on. Empty: all IPv4 addresses. [::]: all addresses of both families. */}}
{{- define "trainyard.listenHost" -}}
{{- if ne .Values.ipFamily "IPv4" -}}[::]{{- end -}}
{{- end }}

{{/* Address families in a Service's spec. */}}
{{- define "trainyard.serviceFamily" -}}
{{- if eq .Values.ipFamily "IPv6" -}}
ipFamilyPolicy: SingleStack
ipFamilies: [IPv6]
{{- else if eq .Values.ipFamily "DualStack" -}}
ipFamilyPolicy: PreferDualStack
{{- end -}}
{{- end }}

{{/* Host in a URL: IPv6 addresses are in brackets. */}}
{{- define "trainyard.urlHost" -}}
{{- if contains ":" . -}}[{{ . }}]{{- else -}}{{ . }}{{- end -}}
{{- end }}

{{/* kube-scheduler's configuration of the extender: {root, host, folder}. */}}
{{- define "trainyard.extenderStanza" -}}
- urlPrefix: https://{{ include "trainyard.urlHost" .host }}:{{ .root.Values.extender.service.port }}/v1/extender
  filterVerb: filter
  prioritizeVerb: prioritize
  preemptVerb: preempt
  weight: 1
  nodeCacheCapable: true
  ignorable: false
  httpTimeout: {{ .root.Values.scheduler.httpTimeout }}
  enableHTTPS: true
  tlsConfig:
    serverName: {{ include "trainyard.name" .root }}-extender.{{ .root.Release.Namespace }}.svc
    certFile: {{ .folder }}/tls.crt
    keyFile: {{ .folder }}/tls.key
    caFile: {{ .folder }}/ca.crt
  managedResources:
  {{- range include "trainyard.gpuResources" .root | fromJsonArray }}
  - {name: {{ . }}, ignoredByScheduler: false}
  {{- end }}
{{- if .root.Values.scheduler.devices }}
# Pods that claim devices request no resource by which kube-scheduler could choose them, so this entry is asked about all.
- urlPrefix: https://{{ include "trainyard.urlHost" .host }}:{{ .root.Values.extender.service.port }}/v1/devices
  filterVerb: filter
  nodeCacheCapable: true
  ignorable: true
  httpTimeout: {{ .root.Values.scheduler.httpTimeout }}
  enableHTTPS: true
  tlsConfig:
    serverName: {{ include "trainyard.name" .root }}-extender.{{ .root.Release.Namespace }}.svc
    certFile: {{ .folder }}/tls.crt
    keyFile: {{ .folder }}/tls.key
    caFile: {{ .folder }}/ca.crt
{{- end }}
{{- end }}

{{/* The resources that are GPUs by the policy, as JSON. The programs and kube-scheduler must use the same list. */}}
{{- define "trainyard.gpuResources" -}}
{{ .Values.policy.gpuResources | default (list "nvidia.com/gpu") | toJson }}
{{- end }}

{{/* A matchCondition of admission policies: the pod requests GPUs. */}}
{{- define "trainyard.withGpus" -}}
- name: with-gpus
  expression: >-
    object.spec.containers.exists(c, c.?resources.?limits.orValue({}).exists(k, k in {{ include "trainyard.gpuResources" . }})) ||
    object.spec.?initContainers.orValue([]).exists(c, c.?resources.?limits.orValue({}).exists(k, k in {{ include "trainyard.gpuResources" . }}))
{{- end }}

{{/* matchConditions of admission policies: the pod is not one of the cluster's own programs. Kubelets report static pods that run already. */}}
{{- define "trainyard.ordinaryTenant" -}}
{{- $names := list .Release.Namespace }}
{{- if .Values.agent.enabled }}{{ $names = append $names .Values.agent.namespace }}{{ end }}
{{- $rules := list }}
{{- range .Values.admissionPolicy.systemNamespaces }}
{{- if hasSuffix "*" . }}
{{- $rules = append $rules (printf "!request.namespace.startsWith('%s')" (trimSuffix "*" .)) }}
{{- else }}
{{- $names = append $names . }}
{{- end }}
{{- end -}}
- name: not-in-a-system-namespace
  expression: >-
    {{ append $rules (printf "!(request.namespace in %s)" ($names | uniq | toJson)) | join " && " }}
- name: not-by-a-system-user
  expression: >-
    !request.userInfo.username.startsWith('system:node:') &&
    !(request.userInfo.username in {{ .Values.admissionPolicy.systemUsers | default list | toJson }})
{{- end }}

{{/* Annotations of objects that run before an uninstallation; the dot is the position in the order. */}}
{{- define "trainyard.uninstallHook" -}}
annotations:
  helm.sh/hook: pre-delete
  helm.sh/hook-weight: {{ . | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* v1.30.4 for v1.30.4-eks-a737599 and v1.30.4+k3s1, because upstream's images have only such tags. */}}
{{- define "trainyard.kubernetesRelease" -}}
{{ regexFind "^v[0-9]+\\.[0-9]+\\.[0-9]+" .Capabilities.KubeVersion.Version | default .Capabilities.KubeVersion.Version }}
{{- end }}

{{- /* Common name of kube-scheduler's certificate. The extender checks it, because your own issuer may sign other certificates too. */}}
{{- define "trainyard.clientName" -}}
{{- if eq .Values.certificates.source "operator" -}}
trainyard-extender-client
{{- else if eq .Values.certificates.source "certManager" -}}
{{ include "trainyard.name" . }}-extender-client
{{- else -}}
{{ .Values.certificates.existing.clientName }}
{{- end -}}
{{- end }}

{{- /*
The enabled kinds that the operator suspends and starts; LeaderWorkerSets and PodGroups only say which pods a gang has.
*/}}
{{- define "trainyard.workloadKinds" -}}
{{ without (.Values.workloads.kinds | default list) "LeaderWorkerSet" "PodGroup" | toJson }}
{{- end }}

{{- /*
Group, versions, plural, and the object with the field `suspend`, of each kind in workloads.kinds; a test compares them with the
operator's table.
*/}}
{{- define "trainyard.workloadTypes" -}}
Job: {group: batch, version: v1, plural: jobs, suspend: spec}
JobSet: {group: jobset.x-k8s.io, version: v1alpha2, plural: jobsets, suspend: spec}
TrainJob: {group: trainer.kubeflow.org, version: v1alpha1, plural: trainjobs, suspend: spec}
MPIJob: {group: kubeflow.org, version: v2beta1, plural: mpijobs, suspend: spec.runPolicy}
PyTorchJob: {group: kubeflow.org, version: v1, plural: pytorchjobs, suspend: spec.runPolicy}
TFJob: {group: kubeflow.org, version: v1, plural: tfjobs, suspend: spec.runPolicy}
XGBoostJob: {group: kubeflow.org, version: v1, plural: xgboostjobs, suspend: spec.runPolicy}
PaddleJob: {group: kubeflow.org, version: v1, plural: paddlejobs, suspend: spec.runPolicy}
JAXJob: {group: kubeflow.org, version: v1, plural: jaxjobs, suspend: spec.runPolicy}
RayCluster: {group: ray.io, version: v1, plural: rayclusters, suspend: spec}
RayJob: {group: ray.io, version: v1, plural: rayjobs, suspend: spec}
{{- end }}

{{- /* matchConstraints of admission policies: the creation of these kinds. */}}
{{- define "trainyard.workloadRules" -}}
resourceRules:
{{- range .kinds }}
{{- $type := get $.types . }}
- apiGroups: [{{ $type.group }}]
  apiVersions: [{{ $type.version }}]
  operations: [CREATE]
  resources: [{{ $type.plural }}]
{{- end }}
{{- end }}
