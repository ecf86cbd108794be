#include "codec/member_pod.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "codec/checkpoint_hook.h"
#include "codec/container_env.h"
#include "codec/elastic_pod.h"
#include "codec/framework_files.h"
#include "codec/host_ports.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "codec/membership.h"
#include "codec/owned_object.h"
#include "codec/pinned_affinity.h"
#include "codec/preflight_pod.h"
#include "codec/service.h"
#include "codec/ssh_pod.h"
#include "codec/traffic_pod.h"
#include "model/membership.h"
#include "model/names.h"
#include "model/process_group.h"
#include "model/traffic_pod.h"

namespace trainyard::codec {
namespace {

struct Pod {
  const model::Job& job;
  const model::Role& role;
  int index = 0;
  std::string name;
  const MemberContext& context;
  bool overSsh = false;
  std::string filesName = {};  // empty if no variable refers to a file
  bool elastic = false;        // has the parts of codec/elastic_pod.h
  bool launched = false;       // started by trainyard-launch
  model::Environment environment = {};
  std::vector<int> hostPorts = {};  // to declare in addition to those of the template
};

enum class ContainerKind { kFirst, kOther, kInit };

void writeContainer(const Pod& pod, const JsonValue& container, ContainerKind kind, JsonWriter& out) {
  const bool mounts = (pod.overSsh || pod.elastic) && kind != ContainerKind::kInit;
  const bool launched = pod.launched && kind == ContainerKind::kFirst;
  const bool hooked = asksOverHttp(pod.job.spec) && kind == ContainerKind::kFirst;
  const bool opensPorts = !pod.hostPorts.empty() && kind == ContainerKind::kFirst;
  out.beginObject();
  container.forEachMember([&](std::string_view name, JsonValue value) {
    const bool replaced = name == "env" || (mounts && name == "volumeMounts") ||
                          (launched && name == "command") || (hooked && name == "lifecycle") ||
                          (opensPorts && name == "ports");
    if (value.present() && !replaced) out.key(name).raw(value.minified());
  });
  out.key("env");
  writeContainerEnv(out, container, pod.environment, pod.filesName);
  if (mounts) {
    out.key("volumeMounts").beginArray();
    container.find("volumeMounts").forEachElement([&](JsonValue mount) { out.raw(mount.minified()); });
    if (pod.overSsh) writeSshMounts(out);
    writeElasticMounts(out, pod.job);
    out.endArray();
  }
  if (opensPorts) writePorts(out, container, pod.hostPorts);
  if (hooked) writeLifecycle(out, pod.job.spec, container);
  if (launched)
    writeLaunchedCommand(out, container);
  else if (pod.overSsh && kind == ContainerKind::kFirst && servesSsh(pod.role, container))
    writeSshServerCommand(out);
  out.endObject();
}

void writeContainers(const Pod& pod, const JsonValue& spec, JsonWriter& out) {
  out.key("containers").beginArray();
  ContainerKind kind = ContainerKind::kFirst;
  spec.find("containers").forEachElement([&](JsonValue container) {
    writeContainer(pod, container, kind, out);
    kind = ContainerKind::kOther;
  });
  out.endArray();
}

JsonValue firstContainer(const JsonValue& spec) {
  JsonValue first;
  bool found = false;
  spec.find("containers").forEachElement([&](JsonValue container) {
    if (!std::exchange(found, true)) first = container;
  });
  return first;
}

void writeInitContainers(const Pod& pod, const JsonValue& spec, JsonWriter& out) {
  const JsonValue own = spec.find("initContainers");
  const bool waits = pod.overSsh && pod.role.name == model::kLauncherRole;
  const model::Preflight* preflight = pod.context.preflight;
  if (!own.present() && !waits && preflight == nullptr && !pod.launched) return;
  const JsonValue first = firstContainer(spec);
  out.key("initContainers").beginArray();
  if (preflight != nullptr && first.present()) writePreflightContainer(out, first, *preflight);
  own.forEachElement([&](JsonValue each) { writeContainer(pod, each, ContainerKind::kInit, out); });
  if (pod.launched) writeInstallContainer(out, first, pod.context.launcherImage);
  if (waits && first.present()) writeWaitContainer(out, first, pod.environment, pod.filesName);
  out.endArray();
}

void writeVolumes(const Pod& pod, const JsonValue& spec, JsonWriter& out) {
  out.key("volumes").beginArray();
  spec.find("volumes").forEachElement([&](JsonValue volume) { out.raw(volume.minified()); });
  if (pod.overSsh) writeSshVolumes(out, pod.job);
  writeElasticVolumes(out, pod.job);
  out.endArray();
}

void writeLabels(const Pod& pod, const JsonValue& templateLabels, JsonWriter& out) {
  out.key("labels").beginObject();
  templateLabels.forEachMember([&](std::string_view name, JsonValue value) {
    if (value.present()) out.key(name).raw(value.minified());
  });
  writeJobLabels(out, pod.job);
  out.member(model::names::kEpochLabel, fmt::to_string(pod.context.epoch))
      .member(model::names::kRoleLabel, pod.role.name)
      .member(model::names::kIndexLabel, fmt::to_string(pod.index));
  out.endObject();
}

// Annotations that keep node autoscalers from removing a node that runs members: losing one node costs the
// work of the whole gang. A value in the template takes precedence.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kStay{
    {{"karpenter.sh/do-not-disrupt", "true"}, {"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"}}};

void writeAnnotations(const Pod& pod, const JsonValue& ofTemplate, JsonWriter& out) {
  const auto membership = model::membershipOf(pod.job);
  out.key("annotations").beginObject();
  ofTemplate.forEachMember([&](std::string_view name, JsonValue value) {
    const bool replaced =
        name == model::kTrafficAnnotation || (membership && name == model::kMembershipAnnotation);
    if (value.present() && !replaced) out.key(name).raw(value.minified());
  });
  // The membership at the start of the member, so that a joining member gets the list of the existing ones.
  if (membership) out.member(model::kMembershipAnnotation, encodeMembership(*membership));
  for (const auto& [name, value] : kStay) {
    if (!ofTemplate.find(name).present()) out.member(name, value);
  }
  if (const std::string order = encodeTrafficOrder(pod.job, pod.role.name); !order.empty())
    out.member(model::kTrafficAnnotation, order);
  out.endObject();
}

// Labels and annotations are copied from the template, as Kubernetes' own controllers do. Finalizers are not
// copied: a pod must not occupy its node after it has ended.
void writeMetadata(const Pod& pod, const JsonValue& templateMeta, JsonWriter& out) {
  out.key("metadata").beginObject().member("name", pod.name).member("namespace", pod.job.key.ns);
  writeLabels(pod, templateMeta.find("labels"), out);
  writeAnnotations(pod, templateMeta.find("annotations"), out);
  writeOwnerReference(out, pod.job);
  out.endObject();
}

constexpr std::string_view kGrace = "terminationGracePeriodSeconds";

// The grace period to write into the pod; set only if the job needs a longer one than the template has.
std::optional<std::int64_t> graceOf(const Pod& pod, const JsonValue& spec) {
  constexpr std::int64_t kKubernetesDefault = 30;
  const std::int64_t own = spec.find(kGrace).integer().value_or(kKubernetesDefault);
  const std::int64_t needed = pod.role.grace.count();
  return needed > own ? std::optional(needed) : std::nullopt;
}

constexpr std::string_view kDeadline = "activeDeadlineSeconds";

// The activeDeadlineSeconds to write into a single-pod job's pod; set only if the job is not preemptible.
// Other jobs may have been scheduled around the job's deadline. A user can edit the job before its record is
// written, which then forbids the edit; a pod's deadline can only be lowered.
std::optional<std::int64_t> deadlineOf(const Pod& pod, const JsonValue& spec) {
  const model::JobSpec& job = pod.job.spec;
  if (!pod.context.pinned || job.preemptible || !job.run.activeDeadline) return std::nullopt;
  const std::int64_t ofJob = job.run.activeDeadline->count();
  return std::min(ofJob, spec.find(kDeadline).integer().value_or(ofJob));
}

// Kubernetes' default on the host network is the node's resolver, which cannot resolve the members' names.
bool needsClusterDns(const JsonValue& spec) {
  const auto own = spec.find("dnsPolicy").string();
  return isOnHostNetwork(spec) && (!own || own == "ClusterFirst");
}

void writeSpec(const Pod& pod, const JsonValue& spec, JsonWriter& out) {
  const MemberContext& context = pod.context;
  const std::optional<std::int64_t> grace = graceOf(pod, spec);
  const std::optional<std::int64_t> deadline = deadlineOf(pod, spec);
  out.key("spec").beginObject();
  spec.forEachMember([&](std::string_view name, JsonValue value) {
    if (!value.present() || isWrittenByOperator(name) || (name == "affinity" && context.pinned)) return;
    if ((name == kGrace && grace) || (name == kDeadline && deadline)) return;
    if (name == "dnsPolicy" && needsClusterDns(spec)) return;
    const bool ownVolumes = pod.overSsh || pod.elastic;
    if (name == "containers" || name == "initContainers" || (name == "volumes" && ownVolumes)) return;
    out.key(name).raw(value.minified());
  });
  writeInitContainers(pod, spec, out);
  writeContainers(pod, spec, out);
  if (pod.overSsh || pod.elastic) writeVolumes(pod, spec, out);
  out.member("restartPolicy", "Never").member("hostname", pod.name);
  if (grace) out.member(kGrace, *grace);
  if (deadline) out.member(kDeadline, *deadline);
  if (needsClusterDns(spec)) out.member("dnsPolicy", "ClusterFirstWithHostNet");
  // Quotas that are scoped by priority class must count the same class as the queues.
  if (!pod.job.spec.priorityClassName.empty())
    out.member("priorityClassName", pod.job.spec.priorityClassName);
  if (!context.schedulerName.empty()) out.member("schedulerName", context.schedulerName);
  if (pod.job.spec.mayHavePeers()) out.member("subdomain", serviceName(pod.job));
  if (context.gated) {
    out.key("schedulingGates")
        .beginArray()
        .beginObject()
        .member("name", model::names::kGangGate)
        .endObject()
        .endArray();
  }
  if (context.pinned) {
    out.key("affinity");
    writePinnedAffinity(spec.find("affinity"), *context.pinned, out);
  }
  out.endObject();
}

}  // namespace

bool isWrittenByOperator(std::string_view specMember) {
  return specMember == "restartPolicy" || specMember == "hostname" || specMember == "subdomain" ||
         specMember == "schedulingGates" || specMember == "nodeName" || specMember == "schedulerName" ||
         specMember == "priorityClassName";
}

base::Result<std::string> encodeMemberPod(const model::Job& job, const model::Role& role, int index,
                                          const MemberContext& context) {
  const auto document = JsonDocument::parse(role.templateJson);
  if (!document || document->root().find("spec").type() != JsonType::kObject) {
    return base::fail(base::ErrorCode::kInvalid, document ? "has no spec" : document.error().message);
  }
  const bool overSsh = model::launchesOverSsh(job);
  const bool refers =
      overSsh || std::any_of(context.environment.begin(), context.environment.end(),
                             [](const model::Variable& each) { return !each.fileKey.empty(); });
  Pod pod{.job = job,
          .role = role,
          .index = index,
          .name = model::podName(job.key.name, role.name, index),
          .context = context,
          .overSsh = overSsh,
          .filesName = refers ? frameworkFilesName(job) : std::string(),
          .elastic = hasElasticParts(job.spec),
          .launched = usesLauncher(job.spec),
          .environment = context.environment};
  if (pod.launched) {
    const auto complaint =
        launchComplaint(firstContainer(document->root().find("spec")), context.launcherImage);
    if (!complaint.empty()) return base::fail(base::ErrorCode::kInvalid, complaint);
  }
  if (const auto complaint = hookComplaint(job.spec, firstContainer(document->root().find("spec")));
      !complaint.empty())
    return base::fail(base::ErrorCode::kInvalid, complaint);
  pod.hostPorts = hostPortsToDeclare(job.spec, role, index, document->root().find("spec"));
  for (model::Variable& each : elasticEnvironment(job)) pod.environment.push_back(std::move(each));
  JsonWriter out;
  out.beginObject().member("apiVersion", "v1").member("kind", "Pod");
  writeMetadata(pod, document->root().find("metadata"), out);
  writeSpec(pod, document->root().find("spec"), out);
  out.endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
