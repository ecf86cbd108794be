#include "core/guard/guard.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/enum_table.h"
#include "core/guard/foreign_pod_checker.h"
#include "core/guard/pod_standing.h"
#include "core/guard/refusal_texts.h"
#include "core/ledger/members.h"
#include "model/device_names.h"
#include "model/gang_size.h"
#include "model/gpu_resources.h"
#include "model/managed_by.h"
#include "model/member_of.h"

namespace trainyard::core {
namespace {

using model::NodeName;
using model::Pod;

// Refuses all nodes with one text.
FilterDecision refuseAll(std::span<const std::string_view> names, GuardReason reason, std::string text) {
  FilterDecision decision;
  decision.texts.push_back(std::move(text));
  decision.refused.reserve(names.size());
  for (const std::string_view name : names) decision.refused.push_back({name, decision.texts.front()});
  decision.refusedBy[static_cast<std::size_t>(reason)] = names.size();
  return decision;
}

FilterDecision filterMember(const PodStanding& member, const Pod& pod,
                            std::span<const std::string_view> names) {
  FilterDecision decision =
      refuseAll(names, GuardReason::kNotItsPlace,
                fmt::format("trainyard: {} is assigned to node {}", pod.key, *member.node));
  const auto own = std::find_if(decision.refused.begin(), decision.refused.end(),
                                [&](const NodeRefusal& each) { return each.node == member.node->str(); });
  if (own == decision.refused.end()) return decision;
  decision.accepted.push_back(own->node);
  decision.refused.erase(own);
  --decision.refusedBy[static_cast<std::size_t>(GuardReason::kNotItsPlace)];
  return decision;
}

// Whole free nodes are the scarcest resource of a GPU cluster: breaking one up is the last choice, a perfect
// fit the first.
int foreignPodScore(std::int64_t wanted, std::int64_t free, std::int64_t total) {
  const std::int64_t left = free - wanted;
  if (total <= 0 || left < 0) return 0;
  if (left == 0) return kMaxScore - 1;
  if (free >= total) return 0;
  constexpr std::int64_t kSpread = kMaxScore - 2;
  return static_cast<int>(kMaxScore - 1 - (kSpread * left + total - 1) / total);
}

struct Choice {
  std::string_view name;
  int score = -1;
  std::int64_t left = 0;

  // More points first, then fewer GPUs left, then the name.
  [[nodiscard]] bool betterThan(const Choice& other) const {
    return std::tuple(-score, left, name) < std::tuple(-other.score, other.left, other.name);
  }
};

FilterDecision filterForeignPod(const GuardView& view, const Holds& holds, const Pod& pod,
                                std::span<const std::string_view> names) {
  FilterDecision decision;
  decision.accepted.reserve(names.size());
  RefusalTexts texts(decision, pod);
  ForeignPodChecker checker(view, holds, pod);
  const std::int64_t wanted = pod.shape.requests.gpus();
  std::optional<Choice> best;
  std::vector<std::string_view> reserved;
  for (const std::string_view name : names) {
    const ForeignPodChecker::NodeCheck check = checker.look(name);
    if (check.refusal) {
      texts.refuse(name, check);
      continue;
    }
    decision.accepted.push_back(name);
    if (check.node->reserved) reserved.push_back(name);
    const std::int64_t left = check.freeGpus - wanted;
    // By the guard's older view the pod does not fit, so nothing is held there.
    if (left < 0) continue;
    const Choice choice{name, foreignPodScore(wanted, check.freeGpus, check.node->gpus), left};
    if (!best || choice.betterThan(*best)) best = choice;
  }
  if (!best) return decision;
  decision.hold = NodeName(best->name);
  std::erase(reserved, best->name);
  if (reserved.empty()) return decision;
  for (const std::string_view name : reserved) texts.refuseNotTheBest(name);
  // Both lists are in the order of the request.
  auto next = reserved.begin();
  std::erase_if(decision.accepted, [&](std::string_view name) {
    if (next == reserved.end() || name.data() != next->data()) return false;
    ++next;
    return true;
  });
  return decision;
}

// Whether it may take what a gang's members need beside cpu and memory.
bool takesDevices(const Pod& pod) { return pod.shape.requests.gpus() > 0 || asksForDevices(pod); }

FilterDecision acceptAll(std::span<const std::string_view> names) {
  FilterDecision decision;
  decision.accepted.assign(names.begin(), names.end());
  return decision;
}

// Returns true if the pod only claims to be a member: it never was one, and the operator does not delete it.
// A pod of a former record is the operator's to delete, not kube-scheduler's.
bool onlyClaimsMembership(const PodStanding& member, const Pod& pod) {
  if (member.job == nullptr) return false;
  if (model::managedByOther(*member.job)) return true;
  if (member.standing == Standing::kUnknown) return !namedAsMember(pod, *member.job);
  return member.standing == Standing::kNotRecorded && !wasMember(pod, *member.job);
}

std::string describeUnknown(const Pod& pod, const PodStanding& member) {
  if (member.job == nullptr) {
    return fmt::format("trainyard: the TrainingJob that controls {} (uid {}) is not known yet", pod.key,
                       model::gangUidOf(pod));
  }
  return fmt::format("trainyard: epoch {} of TrainingJob {}, which {} belongs to, is not known yet",
                     pod.member ? pod.member->epoch : 0, member.job->key, pod.key);
}

}  // namespace

static_assert(base::isEnumerator<static_cast<GuardReason>(kGuardReasons - 1)>() &&
              !base::isEnumerator<static_cast<GuardReason>(kGuardReasons)>());

std::string_view toString(GuardReason reason) {
  switch (reason) {
    case GuardReason::kNotItsPlace: return "NotItsPlace";
    case GuardReason::kNotRecorded: return "NotRecorded";
    case GuardReason::kAborting: return "Aborting";
    case GuardReason::kUnknownNode: return "UnknownNode";
    case GuardReason::kReserved: return "Reserved";
    case GuardReason::kRunning: return "Running";
    case GuardReason::kHeld: return "Held";
    case GuardReason::kNotTheBest: return "NotTheBest";
  }
  return "Unknown";
}

bool asksForDevices(const Pod& pod) {
  const auto& extended = pod.shape.requests.extendedAll();
  return !pod.shape.deviceClaims.empty() ||
         std::any_of(extended.begin(), extended.end(),
                     [](const auto& each) { return each.first.starts_with(model::kImplicitPrefix); });
}

base::Result<FilterDecision> filter(const GuardView& view, const Holds& holds, const Pod& pod,
                                    std::span<const std::string_view> names) {
  const PodStanding member = podStandingOf(view, pod);
  switch (member.standing) {
    case Standing::kUnknown: return base::fail(base::ErrorCode::kUnavailable, describeUnknown(pod, member));
    case Standing::kNotRecorded:
      return refuseAll(
          names, GuardReason::kNotRecorded,
          fmt::format("trainyard: {} is controlled by TrainingJob {}, but no current record names it",
                      pod.key, member.job->key));
    case Standing::kAborting:
      return refuseAll(
          names, GuardReason::kAborting,
          fmt::format("trainyard: the attempt of TrainingJob {} that {} belongs to is being aborted",
                      member.job->key, pod.key));
    case Standing::kMember: return filterMember(member, pod, names);
    // Without a record it gets unreserved capacity only: a paused former leader may have created it.
    case Standing::kOwnRecord:
    case Standing::kForeign: break;
  }
  return takesDevices(pod) ? filterForeignPod(view, holds, pod, names) : acceptAll(names);
}

std::vector<int> prioritize(const GuardView& view, const Holds& holds, const Pod& pod,
                            std::span<const std::string_view> names) {
  std::vector<int> scores(names.size(), 0);
  const PodStanding member = podStandingOf(view, pod);
  if (member.standing == Standing::kMember) {
    std::transform(names.begin(), names.end(), scores.begin(),
                   [&](std::string_view name) { return name == member.node->str() ? kMaxScore : 0; });
    return scores;
  }
  if (member.standing != Standing::kForeign || !takesDevices(pod)) return scores;

  const Hold* own = holds.find(pod.uid);
  ForeignPodChecker checker(view, holds, pod);
  std::transform(names.begin(), names.end(), scores.begin(), [&](std::string_view name) {
    if (own != nullptr && own->node.str() == name) return kMaxScore;
    const ForeignPodChecker::NodeCheck check = checker.look(name);
    return check.refusal ? 0 : foreignPodScore(pod.shape.requests.gpus(), check.freeGpus, check.node->gpus);
  });
  return scores;
}

std::vector<bool> mayPreempt(const GuardView& view, const Pod& pod,
                             std::span<const PreemptionCandidate> candidates) {
  std::vector<bool> allowed(candidates.size(), false);
  if (podStandingOf(view, pod).standing != Standing::kForeign) return allowed;

  // Preemption is rare, so the view has no index of pods by uid: one pass over the pods finds all victims.
  std::unordered_map<std::string_view, bool> evictable;
  for (const PreemptionCandidate& each : candidates) {
    for (const std::string_view uid : each.victimUids) evictable.emplace(uid, false);
  }
  for (const auto& each : view.snapshot().pods) {
    const auto at = evictable.find(each->uid.str());
    if (at == evictable.end()) continue;
    const PodStanding member = podStandingOf(view, *each);
    at->second = member.standing == Standing::kForeign || onlyClaimsMembership(member, *each);
  }
  std::transform(candidates.begin(), candidates.end(), allowed.begin(), [&](const PreemptionCandidate& each) {
    const GuardNode* node = view.findNode(each.node);
    // A node without victims is no preemption; kube-scheduler would report it as an extender error.
    return node != nullptr && !node->reserved && !each.victimUids.empty() &&
           std::all_of(each.victimUids.begin(), each.victimUids.end(),
                       [&](std::string_view uid) { return evictable.at(uid); });
  });
  return allowed;
}

}  // namespace trainyard::core
