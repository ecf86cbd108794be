#include "sim/workloads/owned_pod.h"

#include <charconv>

#include <fmt/format.h>

#include "codec/pod.h"
#include "sim/api/json.h"
#include "sim/nodes/kubelet_pod.h"
#include "sim/nodes/read_json.h"

namespace trainyard::sim {
namespace {

constexpr const char* kIndexName = "batch.kubernetes.io/job-completion-index";

constexpr const char* kRunForName = "sim.trainyard.dev/run-for";
constexpr const char* kLongerByIndex = "sim.trainyard.dev/run-longer-by-index";

}  // namespace

base::Result<OwnedPod> decodeOwnedPod(std::string_view json) {
  const auto pod = codec::decodePod(json);
  if (!pod) return base::fail(pod.error());
  const auto document = codec::JsonDocument::parseObject(json);
  if (!document) return base::fail(document.error());
  OwnedPod owned{.key = pod->key,
                 .uid = pod->uid,
                 .resourceVersion = pod->resourceVersion,
                 .owner = pod->controllerUid,
                 .phase = pod->phase,
                 .terminating = pod->terminating,
                 .gated = pod->gated,
                 .bound = pod->bound(),
                 .ranToItsEnd = pod->finished() && pod->exit.has_value() && pod->disruptionReason.empty()};
  const std::string index = textAt(document->root(), {"metadata", "labels", kIndexName});
  std::from_chars(index.data(), index.data() + index.size(), owned.index);
  return owned;
}

std::string podOfTemplate(std::string_view podTemplate, const PodOwner& owner, int index) {
  Json pod = Json::parse(podTemplate, nullptr, false);
  if (!pod.is_object()) pod = Json::object();
  Json& meta = pod["metadata"];
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  meta["generateName"] =
      index < 0 ? fmt::format("{}-", owner.key.name) : fmt::format("{}-{}-", owner.key.name, index);
  meta["namespace"] = owner.key.ns;
  meta["ownerReferences"] = Json::array({{{"apiVersion", std::string(owner.apiVersion)},
                                          {"kind", std::string(owner.kind)},
                                          {"name", owner.key.name},
                                          {"uid", owner.uid.str()},
                                          {"controller", true},
                                          {"blockOwnerDeletion", true}}});
  if (index < 0) return dumpJson(pod);
  const auto each = parseGoDuration(textAt(pod, {"metadata", "annotations", kLongerByIndex}));
  const auto first = parseGoDuration(textAt(pod, {"metadata", "annotations", kRunForName}));
  if (each && first) meta["annotations"][kRunForName] = fmt::format("{}us", (*first + *each * index).count());
  meta["labels"][kIndexName] = fmt::to_string(index);
  meta["labels"]["batch.kubernetes.io/job-name"] = owner.key.name;
  meta["labels"]["batch.kubernetes.io/controller-uid"] = owner.uid.str();
  meta["annotations"][kIndexName] = fmt::to_string(index);
  return dumpJson(pod);
}

}  // namespace trainyard::sim
