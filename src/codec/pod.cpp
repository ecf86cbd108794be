#include "codec/pod.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "codec/arrival.h"
#include "codec/decode_object.h"
#include "codec/pod_apartness.h"
#include "codec/pod_shape.h"
#include "model/gang_name.h"
#include "model/member_of.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

using model::Pod;
using model::PodPhase;

constexpr std::string_view kDefaultScheduler = "default-scheduler";

PodPhase parsePhase(std::string_view text) {
  if (text.empty() || text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

template <typename Number>
bool parseNumber(std::string_view text, Number& out) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failure == std::errc{} && end == text.data() + text.size() && out >= 0;
}

std::optional<model::MemberLabels> readMember(const JsonValue& labels) {
  const auto label = [&](std::string_view name) { return labels.find(name).string().value_or(""); };
  model::MemberLabels member;
  member.jobName = label(model::names::kJobNameLabel);
  member.role = label(model::names::kRoleLabel);
  if (member.jobName.empty() || member.role.empty() ||
      !parseNumber(label(model::names::kIndexLabel), member.index) ||
      !parseNumber(label(model::names::kEpochLabel), member.epoch)) {
    return std::nullopt;
  }
  return member;
}

// Returns the kind alone, as is usual in Kubernetes. Other groups may have a kind TrainingJob too; such a
// kind keeps its group, as kubectl prints it ("TrainingJob.example.com"). Trainyard's group in a version that
// it never writes keeps the group as well: no garbage collector finds that owner, so the pod outlives the
// object it refers to.
std::string kindOf(const Field& owner) {
  std::string kind = owner["kind"].string();
  if (kind != model::names::kTrainingJobKind) return kind;
  const std::string_view apiVersion = owner["apiVersion"].text();
  if (apiVersion == model::names::kApiVersion) return kind;
  const std::size_t slash = apiVersion.find('/');
  return fmt::format("{}.{}", kind, slash == std::string_view::npos ? "" : apiVersion.substr(0, slash));
}

void readMetadata(const Field& meta, Pod& pod) {
  pod.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  pod.uid = model::Uid(meta["uid"].text());
  pod.resourceVersion = meta["resourceVersion"].text();
  pod.created = meta["creationTimestamp"].time().value_or(base::WallTime{});
  pod.deletionTime = meta["deletionTimestamp"].time();
  pod.terminating = pod.deletionTime.has_value();
  const std::string_view standsFor =
      meta["labels"].value().find(model::names::kNodesForLabel).string().value_or("");
  meta["ownerReferences"].forEachElement([&](const Field& owner) {
    if (!standsFor.empty() && owner["uid"].text() == standsFor &&
        owner["kind"].text() == model::names::kTrainingJobKind &&
        owner["apiVersion"].text() == model::names::kApiVersion)
      pod.placeholderOf = model::Uid(standsFor);
    if (!owner["controller"].boolean(false)) return;
    pod.controllerUid = model::Uid(owner["uid"].text());
    pod.controllerKind = kindOf(owner);
  });
  const JsonValue labels = meta["labels"].value();
  pod.member = readMember(labels);
  const bool isTrainingJobs = pod.controllerKind == model::names::kTrainingJobKind;
  if (pod.member && !isTrainingJobs && model::isGangName(pod.member->jobName))
    pod.gangUid = model::Uid(labels.find(model::names::kJobUidLabel).string().value_or(""));
}

// Returns the only node name that a term allows; empty if it allows several.
std::string_view onlyNameOf(const Field& term) {
  std::string_view only;
  term["matchFields"].forEachElement([&](const Field& each) {
    if (each["key"].text() != "metadata.name" || each["operator"].text() != "In") return;
    int names = 0;
    std::string_view name;
    each["values"].forEachElement([&](const Field& value) {
      ++names;
      name = value.text();
    });
    if (names == 1) only = name;
  });
  return only;
}

// Returns the one node that every required term allows by name.
std::optional<model::NodeName> pinnedNode(const Field& podSpec) {
  const Field affinity = podSpec["affinity"];
  if (!affinity.present()) return std::nullopt;
  std::string_view pinned;
  bool one = true;
  affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
      .forEachElement([&](const Field& term) {
        const std::string_view name = onlyNameOf(term);
        one = one && !name.empty() && (pinned.empty() || pinned == name);
        pinned = name;
      });
  return one && !pinned.empty() ? std::optional(model::NodeName(pinned)) : std::nullopt;
}

void readSpec(const Field& spec, const ContainerReports& reports, Pod& pod) {
  pod.node = model::NodeName(spec["nodeName"].text());
  spec["schedulingGates"].forEachElement([&](const Field& gate) {
    pod.gated = true;
    if (gate["name"].text() == model::names::kGangGate) {
      pod.gangGated = true;
    } else if (pod.otherGate.empty() && gate["name"].text() != model::names::kPlaceGate) {
      pod.otherGate = gate["name"].text();
    }
  });
  if (const std::string_view scheduler = spec["schedulerName"].text(); scheduler != kDefaultScheduler)
    pod.schedulerName = scheduler;
  pod.grace = readGracePeriod(spec);
  pod.priority = static_cast<int>(spec["priority"].integer(0, INT32_MIN, INT32_MAX));
  CountedNames names;
  pod.shape.requests = readPodRequests(spec, reports, names);
  addApartness(spec, pod.key.ns, names, pod.shape.requests);
  pod.uncountedResources = names.leftOut();
  pod.pinned = pinnedNode(spec);
  pod.shape.volumeClaims = readClaimsOfPod(spec, pod.key.name);
  pod.shape.deviceClaims = readDeviceClaims(spec["resourceClaims"]);
  // The release patch writes this list again, with the node.
  if (pod.arrival || (pod.gangGated && model::claimsGang(pod)))
    pod.shape.affinity = readRequiredAffinity(spec);
}

// Also sets in `reports` that a resize is infeasible.
void readConditions(const Field& conditions, Pod& pod, ContainerReports& reports) {
  conditions.forEachElement([&](const Field& condition) {
    const std::string_view type = condition["type"].text();
    const std::string_view status = condition["status"].text();
    if (type == "Ready") {
      pod.ready = status == "True";
    } else if (type == "PodScheduled" && status == "False" && condition["reason"].text() == "Unschedulable") {
      pod.unschedulableMessage = condition["message"].text();
      pod.unschedulableSince = condition["lastTransitionTime"].time().value_or(base::WallTime{});
    } else if (type == "DisruptionTarget" && status == "True") {
      const std::string_view reason = condition["reason"].text();
      pod.disruptionReason = reason.empty() ? type : reason;
    } else if (type == "PodResizePending" && status == "True" && condition["reason"].text() == "Infeasible") {
      reports.resizeInfeasible = true;
    }
  });
}

// Container statuses in the order in which they decide the pod's outcome.
struct ContainerStatuses {
  std::vector<const Field*> init;
  std::vector<const Field*> sidecars;
  std::vector<const Field*> regular;
  std::vector<const Field*> starting;  // init containers and sidecars in start order, then the others
};

// Orders the statuses as in the spec, because the kubelet sorts containerStatuses by name.
ContainerStatuses inOrder(const Field& spec, const ContainerReports& reports) {
  ContainerStatuses order;
  spec["initContainers"].forEachElement([&](const Field& container) {
    const Field* found = findNamed(reports.init, container["name"].text());
    if (found == nullptr) return;
    order.starting.push_back(found);
    (container["restartPolicy"].text() == "Always" ? order.sidecars : order.init).push_back(found);
  });
  spec["containers"].forEachElement([&](const Field& container) {
    const Field* found = findNamed(reports.regular, container["name"].text());
    if (found == nullptr) return;
    order.starting.push_back(found);
    order.regular.push_back(found);
  });
  return order;
}

std::optional<model::ContainerExit> readExit(const Field& status) {
  const Field terminated = status["state"]["terminated"];
  if (!terminated.present()) return std::nullopt;
  return model::ContainerExit{static_cast<int>(terminated["exitCode"].integer(0, INT32_MIN, INT32_MAX)),
                              terminated["reason"].string(), terminated["message"].string(),
                              terminated["finishedAt"].time()};
}

std::optional<model::ContainerExit> firstFailure(const std::vector<const Field*>& statuses) {
  for (const Field* status : statuses) {
    auto exit = readExit(*status);
    if (exit && exit->code != 0) return exit;
  }
  return std::nullopt;
}

// Sidecars are checked last: the kubelet kills them after the others have ended, so a successful pod may have
// a sidecar with exit code 137 or 143.
std::optional<model::ContainerExit> decisiveExit(const ContainerStatuses& order) {
  if (auto exit = firstFailure(order.init)) return exit;
  if (auto exit = firstFailure(order.regular)) return exit;
  if (!order.regular.empty()) {
    if (auto exit = readExit(*order.regular.front())) return exit;
  }
  return firstFailure(order.sidecars);
}

void readContainers(const Field& spec, const ContainerReports& reports, Pod& pod) {
  if (reports.init.empty() && reports.regular.empty()) return;
  const ContainerStatuses order = inOrder(spec, reports);
  pod.exit = decisiveExit(order);
  for (const Field* each : order.starting) {
    const Field waiting = (*each)["state"]["waiting"];
    if (!waiting.present()) continue;
    pod.waitingReason = waiting["reason"].text();
    break;
  }
}

// Read only for the few pods that failed, because it reads far more fields than a healthy pod needs.
std::shared_ptr<const model::PodFailure> readFailure(const Field& spec, const Field& status,
                                                     const ContainerReports& reports) {
  auto failure = std::make_shared<model::PodFailure>();
  failure->message = status["message"].string();
  status["conditions"].forEachElement([&](const Field& each) {
    failure->conditions.push_back({each["type"].string(), each["status"].string()});
  });
  for (const Field* each : inOrder(spec, reports).starting) {
    const auto exit = readExit(*each);
    if (exit && exit->code != 0) failure->containers.push_back({(*each)["name"].string(), exit->code});
  }
  return failure;
}

std::shared_ptr<const model::PartlyEnded> readPartlyEnded(const ContainerReports& reports) {
  auto partly = std::make_shared<model::PartlyEnded>();
  for (const auto& [name, status] : reports.regular) {
    if (const auto exit = readExit(status)) {
      partly->ended.push_back({std::string(name), exit->code});
    } else {
      partly->running.emplace_back(name);
    }
  }
  return partly->ended.empty() ? nullptr : std::shared_ptr<const model::PartlyEnded>(std::move(partly));
}

// Adds the names of the claims that were made from templates; `statuses`: status.resourceClaimStatuses.
void nameMadeClaims(const Field& statuses, Pod& pod) {
  std::size_t open = 0;
  for (model::DeviceClaimRef& claim : pod.shape.deviceClaims) {
    bool made = claim.templateName.empty();
    statuses.forEachElement([&](const Field& each) {
      if (each["name"].text() != claim.name) return;
      made = true;
      if (claim.claimName.empty()) claim.claimName = each["resourceClaimName"].string();
    });
    if (!made) ++open;
  }
  pod.awaitsClaims = open > 0;
}

ContainerReports readReports(const Field& status) {
  return {byName(status["initContainerStatuses"]), byName(status["containerStatuses"])};
}

Pod readPod(const Field& root) {
  Pod pod;
  readMetadata(root["metadata"], pod);
  const Field status = root["status"];
  pod.phase = parsePhase(status["phase"].text());
  pod.statusReason = status["reason"].text();
  pod.nominated = model::NodeName(status["nominatedNodeName"].text());
  ContainerReports reports = readReports(status);
  readConditions(status["conditions"], pod, reports);
  const Field spec = root["spec"];
  if (auto arrival = readArrival(root["metadata"], spec))
    pod.arrival = std::make_shared<const model::Arrival>(std::move(*arrival));
  readSpec(spec, reports, pod);
  if (!pod.shape.deviceClaims.empty()) nameMadeClaims(status["resourceClaimStatuses"], pod);
  readContainers(spec, reports, pod);
  if (pod.phase == PodPhase::kRunning) pod.partlyEnded = readPartlyEnded(reports);
  const bool partlyFailed = pod.partlyEnded && pod.exit && pod.exit->code != 0;
  if (pod.phase == PodPhase::kFailed || partlyFailed || !pod.disruptionReason.empty())
    pod.failure = readFailure(spec, status, reports);
  return pod;
}

}  // namespace

base::Result<Pod> decodePod(std::string_view json) {
  return decodeObject("pod", json, readPod, base::OutOfRange::kSaturate);
}

std::optional<Pod> decodePartOfBoundPod(std::string_view json) {
  const auto document = JsonDocument::parseObject(json);
  if (!document) return std::nullopt;
  FieldErrors ignored(base::OutOfRange::kSaturate);
  Pod pod = readPod(Field(document->root(), ignored));
  if (pod.key.name.empty() || !pod.bound()) return std::nullopt;
  // Read once more, for the complaints about requests alone.
  FieldErrors errors(base::OutOfRange::kSaturate);
  const Field root(document->root(), errors);
  CountedNames names;
  static_cast<void>(readPodRequests(root["spec"], readReports(root["status"]), names));
  if (errors.any()) pod.shape.requests = wholeNode();
  return pod;
}

base::Result<Pod> decodePodToSchedule(std::string_view json) {
  const auto read = [](const Field& root) {
    Pod pod = readPod(root);
    const model::Resources requests = std::move(pod.shape.requests);
    CountedNames names;
    pod.shape = readPodShape(root["spec"], {}, names);
    pod.shape.requests = requests;
    return pod;
  };
  return decodeObject("pod", json, read, base::OutOfRange::kSaturate);
}

}  // namespace trainyard::codec
