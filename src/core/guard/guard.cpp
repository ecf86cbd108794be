#include "core/guard/guard.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/ledger/members.h"
#include "model/gang_size.h"
#include "model/gpu_resources.h"
#include "model/managed_by.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

using model::NodeName;
using model::Pod;
using model::ProposalPhase;

enum class Standing {
  kForeign,
  kMember,
  kOwnRecord,  // the pod of a single-pod job without a written record
  kUnknown,    // the view is older than the pod
  kNotRecorded,
  kAborting,
};

struct Membership {
  Standing standing = Standing::kForeign;
  const model::Job* job = nullptr;
  const NodeName* node = nullptr;  // for kMember
};

bool fills(const model::Job& job, const model::Assignment& assignment, const Pod& pod) {
  return assignment.role == pod.member->role && assignment.indices.contains(pod.member->index) &&
         namedAsMember(pod, job);
}

const NodeName* addedNode(const model::Job& job, const model::Proposal& proposal, const Pod& pod) {
  for (const model::Assignment& assignment : proposal.add) {
    if (fills(job, assignment, pod)) return &assignment.node;
  }
  return nullptr;
}

// Members that were replaced or added later have an epoch of their own.
const NodeName* placedNode(const model::Job& job, const model::Placed& placed, const Pod& pod) {
  for (const model::Assignment& assignment : placed.assignments) {
    if (placed.epochOf(assignment) == pod.member->epoch && fills(job, assignment, pod))
      return &assignment.node;
  }
  return nullptr;
}

// An assigned node counts as long as in the Ledger: afterwards another gang may be placed there.
Membership inRecord(const model::Job& job, const Pod& pod) {
  const model::GangRecord& gang = job.status.gang;
  const std::int64_t epoch = pod.member->epoch;
  const bool over = job.deleting || job.finished();
  if (gang.proposal && gang.proposal->epoch == epoch) {
    if (const NodeName* node = addedNode(job, *gang.proposal, pod)) {
      const bool aborting = over || gang.proposal->phase == ProposalPhase::kAborting;
      return {aborting ? Standing::kAborting : Standing::kMember, &job, node};
    }
  }
  if (gang.placed) {
    if (const NodeName* node = placedNode(job, *gang.placed, pod)) {
      const bool replaced =
          over || (gang.proposal && gang.proposal->removes(pod.member->role, pod.member->index));
      return {replaced ? Standing::kAborting : Standing::kMember, &job, node};
    }
  }
  if (!gang.proposal && !gang.placed && epoch == gang.lastEpoch + 1 && model::gangMembers(job) == 1 &&
      namedAsMember(pod, job)) {
    return {over ? Standing::kAborting : Standing::kOwnRecord, &job, nullptr};
  }
  // Epochs only grow: an epoch beyond every record means that the view is older than the pod.
  return {epoch > newestEpoch(gang) ? Standing::kUnknown : Standing::kNotRecorded, &job, nullptr};
}

Membership membershipOf(const GuardView& view, const Pod& pod) {
  if (pod.controllerKind != model::names::kTrainingJobKind) return {};
  const model::Job* job = view.findJob(pod.controllerUid);
  if (job == nullptr) return {Standing::kUnknown, nullptr, nullptr};
  // An owner is in the namespace of what it owns; a pod elsewhere has copied the uid.
  if (job->key.ns != pod.key.ns) return {};
  if (!pod.member) return {Standing::kNotRecorded, job, nullptr};
  return inRecord(*job, pod);
}

// Refuses all nodes with one text.
FilterDecision refuseAll(std::span<const std::string_view> names, GuardReason reason, std::string text) {
  FilterDecision decision;
  decision.texts.push_back(std::move(text));
  decision.refused.reserve(names.size());
  for (const std::string_view name : names) decision.refused.push_back({name, decision.texts.front()});
  decision.refusedBy[static_cast<std::size_t>(reason)] = names.size();
  return decision;
}

FilterDecision filterMember(const Membership& member, const Pod& pod,
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

// The free capacity of single nodes for one foreign pod.
class ForeignPodChecker {
 public:
  ForeignPodChecker(const GuardView& view, const Holds& holds, const Pod& pod)
      : view_(view), holds_(holds), pod_(pod), own_(holds.find(pod.uid)) {}

  struct NodeCheck {
    const GuardNode* node = nullptr;
    std::int64_t freeGpus = 0;
    std::optional<GuardReason> refusal = std::nullopt;
    const model::Resources* lacking = nullptr;  // the capacity that was too small; valid until the next look
  };

  // Common cases need no copy of a Resources.
  NodeCheck look(std::string_view name) {
    NodeCheck check{.node = view_.findNode(name)};
    if (check.node == nullptr) {
      check.refusal = GuardReason::kUnknownNode;
      return check;
    }
    const model::Resources& free = check.node->free;
    check.freeGpus = check.node->freeGpus;
    if (check.node->reserved) {
      lookAtReservations(name, free, check);
    } else if (check.node->running && !free.covers(pod_.shape.requests)) {
      lookAtRunning(free, check);
    }
    return check;
  }

 private:
  void lookAtReservations(std::string_view name, const model::Resources& free, NodeCheck& check) {
    if (free.covers(pod_.shape.requests)) return lookAtHolds(name, free, check);
    check.refusal = GuardReason::kReserved;
    check.lacking = &free;
  }

  void lookAtRunning(const model::Resources& free, NodeCheck& check) {
    scratch_ = free;
    scratch_.add(check.node->leaving);
    if (scratch_.covers(pod_.shape.requests)) return;
    check.refusal = GuardReason::kRunning;
    check.lacking = &free;
  }

  void lookAtHolds(std::string_view name, const model::Resources& free, NodeCheck& check) {
    const model::Resources* held = holds_.on(name);
    if (held == nullptr) return;
    model::Resources left = free;
    left.subtract(*held);
    if (own_ != nullptr && own_->node.str() == name) left.add(own_->requests);
    check.freeGpus = left.gpus();
    scratch_ = std::move(left);
    if (scratch_.covers(pod_.shape.requests)) return;
    check.refusal = GuardReason::kHeld;
    check.lacking = &scratch_;
  }

  const GuardView& view_;
  const Holds& holds_;
  const Pod& pod_;
  const Hold* own_;
  model::Resources scratch_;
};

// Texts have numbers only for countable resources. Bytes and millicores differ on every node, and
// kube-scheduler joins all different texts into one event.
class RefusalTexts {
 public:
  RefusalTexts(FilterDecision& decision, const Pod& pod) : decision_(decision), pod_(pod) {}

  void refuse(std::string_view name, const ForeignPodChecker::NodeCheck& check) {
    const GuardReason reason = *check.refusal;
    ++decision_.refusedBy[static_cast<std::size_t>(reason)];
    decision_.refused.push_back({name, textFor(reason, check)});
  }

  void refuseNotTheBest(std::string_view name) {
    ++decision_.refusedBy[static_cast<std::size_t>(GuardReason::kNotTheBest)];
    decision_.refused.push_back({name, plain(GuardReason::kNotTheBest)});
  }

 private:
  // The last element is the index of the lacking GPU resource; -1: none.
  using Numbers = std::tuple<GuardReason, std::int64_t, std::int64_t, std::ptrdiff_t>;

  std::string_view textFor(GuardReason reason, const ForeignPodChecker::NodeCheck& check) {
    if (check.lacking == nullptr) return plain(reason);
    const model::Resources& requests = pod_.shape.requests;
    // GPUs first: users wait for them most.
    const auto& gpus = model::gpuResources();
    const auto lacks = [&](const std::string& name) {
      return requests.extended(name) > std::max<std::int64_t>(check.lacking->extended(name), 0);
    };
    if (const auto gpu = std::find_if(gpus.begin(), gpus.end(), lacks); gpu != gpus.end()) {
      const std::int64_t wanted = requests.extended(*gpu);
      const std::int64_t free = check.lacking->extended(*gpu);
      const GuardNode& node = *check.node;
      const std::int64_t beside = reason == GuardReason::kRunning ? node.runningGpus : node.reservedGpus;
      return remember({reason, free, beside, gpu - gpus.begin()}, [&] {
        return fmt::format("trainyard: needs {} {}, has {} free beside {} {}", wanted, *gpu,
                           std::max<std::int64_t>(free, 0), beside, holders(reason));
      });
    }
    const auto lacking = check.lacking->shortfallFor(requests);
    const std::string_view resource = lacking ? std::string_view(lacking->resource) : "capacity";
    const auto [at, added] = byResource_.try_emplace({reason, std::string(resource)});
    if (added) {
      at->second =
          store(fmt::format("trainyard: too little {} beside what is {}", resource, holders(reason)));
    }
    return at->second;
  }

  static std::string_view holders(GuardReason reason) {
    switch (reason) {
      case GuardReason::kRunning: return "of running gangs";
      case GuardReason::kHeld: return "reserved for gangs and pods just placed";
      default: return "reserved for gangs";
    }
  }

  std::string_view plain(GuardReason reason) {
    return remember({reason, 0, 0, -1}, [&]() -> std::string {
      if (reason == GuardReason::kUnknownNode) return "trainyard: the node is not known yet";
      return "trainyard: has capacity reserved for gangs, and another node was offered";
    });
  }

  template <typename Make>
  std::string_view remember(const Numbers& numbers, Make make) {
    const auto [at, added] = byNumbers_.try_emplace(numbers);
    if (added) at->second = store(make());
    return at->second;
  }

  std::string_view store(std::string text) { return decision_.texts.emplace_back(std::move(text)); }

  FilterDecision& decision_;
  const Pod& pod_;
  std::map<Numbers, std::string_view> byNumbers_;
  std::map<std::pair<GuardReason, std::string>, std::string_view> byResource_;
};

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

bool requestsGpus(const Pod& pod) { return pod.shape.requests.gpus() > 0; }

FilterDecision acceptAll(std::span<const std::string_view> names) {
  FilterDecision decision;
  decision.accepted.assign(names.begin(), names.end());
  return decision;
}

// Returns true if the pod only claims to be a member: it never was one, and the operator does not delete it.
// A pod of a former record is the operator's to delete, not kube-scheduler's.
bool onlyClaimsMembership(const Membership& member, const Pod& pod) {
  if (member.job == nullptr) return false;
  if (model::managedByOther(*member.job)) return true;
  if (member.standing == Standing::kUnknown) return !namedAsMember(pod, *member.job);
  return member.standing == Standing::kNotRecorded && !wasMember(pod, *member.job);
}

std::string describeUnknown(const Pod& pod, const Membership& member) {
  if (member.job == nullptr) {
    return fmt::format("trainyard: the TrainingJob that controls {} (uid {}) is not known yet", pod.key,
                       pod.controllerUid);
  }
  return fmt::format("trainyard: epoch {} of TrainingJob {}, which {} belongs to, is not known yet",
                     pod.member ? pod.member->epoch : 0, member.job->key, pod.key);
}

}  // namespace

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

base::Result<FilterDecision> filter(const GuardView& view, const Holds& holds, const Pod& pod,
                                    std::span<const std::string_view> names) {
  const Membership member = membershipOf(view, pod);
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
  return requestsGpus(pod) ? filterForeignPod(view, holds, pod, names) : acceptAll(names);
}

std::vector<int> prioritize(const GuardView& view, const Holds& holds, const Pod& pod,
                            std::span<const std::string_view> names) {
  std::vector<int> scores(names.size(), 0);
  const Membership member = membershipOf(view, pod);
  if (member.standing == Standing::kMember) {
    std::transform(names.begin(), names.end(), scores.begin(),
                   [&](std::string_view name) { return name == member.node->str() ? kMaxScore : 0; });
    return scores;
  }
  if (member.standing != Standing::kForeign || !requestsGpus(pod)) return scores;

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
  if (membershipOf(view, pod).standing != Standing::kForeign) return allowed;

  // Preemption is rare, so the view has no index of pods by uid: one pass over the pods finds all victims.
  std::unordered_map<std::string_view, bool> evictable;
  for (const PreemptionCandidate& each : candidates) {
    for (const std::string_view uid : each.victimUids) evictable.emplace(uid, false);
  }
  for (const auto& each : view.snapshot().pods) {
    const auto at = evictable.find(each->uid.str());
    if (at == evictable.end()) continue;
    const Membership member = membershipOf(view, *each);
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
