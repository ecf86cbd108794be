#include "core/ledger.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "core/members.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

using model::Assignment;
using model::Job;
using model::Pod;
using model::Resources;

// Where a pod holds room: its node once bound; before that, of a member, the node it is let go to. Others
// that are pinned to a node do not count before they are bound, which those of DaemonSets are at once:
// whoever names a scheduler that does not exist would keep all nodes for nothing. nullptr: nowhere.
const model::NodeName* heldNode(const Pod& pod, bool member) {
  if (pod.finished()) return nullptr;
  if (pod.bound()) return &pod.node;
  // Nobody binds a pod that is being deleted.
  return member && pod.pinned && !pod.gated && !pod.terminating ? &*pod.pinned : nullptr;
}

// Moves as much as possible of `wanted` onto `credit`: what stays in `wanted` is not covered yet.
void spend(Resources& wanted, Resources& credit) {
  const auto move = [](std::int64_t& want, std::int64_t& have) {
    const std::int64_t covered = std::max<std::int64_t>(0, std::min(want, have));
    want -= covered;
    have -= covered;
  };
  move(wanted.cpu.value, credit.cpu.value);
  move(wanted.memory.value, credit.memory.value);
  move(wanted.ephemeralStorage.value, credit.ephemeralStorage.value);
  move(wanted.pods, credit.pods);
  const auto extended = wanted.extendedAll();
  for (const auto& [name, amount] : extended) {
    std::int64_t want = amount;
    std::int64_t have = credit.extended(name);
    move(want, have);
    wanted.setExtended(name, want);
    credit.setExtended(name, have);
  }
}

}  // namespace

class Ledger::Builder {
 public:
  Builder(Ledger& ledger, const model::Snapshot& snapshot)
      : ledger_(ledger), jobIndex_(snapshot.jobs.size()) {
    for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
      const Job& job = *snapshot.jobs[i];
      jobIndex_.add(job.uid.str(), i);
      if (!job.status.gang.proposal) continue;
      for (const model::Victim& victim : job.status.gang.proposal->victims)
        victims_.try_emplace(victim.uid.str());
    }
    members_.resize(snapshot.jobs.size());
  }

  void countPods(const model::Snapshot& snapshot) {
    // Sorted by name, the pods of one job mostly stand together, and those of one node in it.
    const Pod* before = nullptr;
    std::size_t named = kNobody;
    const model::NodeName* nodeBefore = nullptr;
    std::optional<std::size_t> nodeFound;
    for (const auto& pod : snapshot.pods) {
      if (before == nullptr || before->controllerUid != pod->controllerUid) named = namedOwnerOf(*pod);
      before = pod.get();
      const std::size_t owner = isMember(*pod, named, snapshot) ? named : kNobody;
      const Job* job = owner < snapshot.jobs.size() ? snapshot.jobs[owner].get() : nullptr;
      const bool orphan = named == kNobody && mayBeOrphan(*pod);
      const model::NodeName* name = heldNode(*pod, job != nullptr || orphan);
      if (name != nullptr && (nodeBefore == nullptr || *nodeBefore != *name)) {
        nodeFound = ledger_.find(*name);
        nodeBefore = name;
      }
      const std::optional<std::size_t> node = name == nullptr ? std::nullopt : nodeFound;
      if (node) {
        ledger_.nodes_[*node].free.subtract(pod->shape.requests);
        ledger_.entries_.push_back({static_cast<std::uint32_t>(*node), 0, job, pod.get()});
        if (!victims_.empty()) noteVictim(*pod, *node);
      }
      if (job != nullptr) members_[owner].push_back({pod.get(), node});
    }
  }

  void countPlaces(const model::Snapshot& snapshot) {
    for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) countPlacesOf(*snapshot.jobs[i], members_[i]);
  }

  void groupByNode() {
    std::vector<std::uint32_t> begin(ledger_.nodes_.size() + 1, 0);
    for (const Entry& entry : ledger_.entries_) ++begin[entry.node + 1];
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<Entry> grouped(ledger_.entries_.size());
    std::vector<std::uint32_t> next = begin;
    for (const Entry& entry : ledger_.entries_) grouped[next[entry.node]++] = entry;
    ledger_.entries_ = std::move(grouped);
    ledger_.entriesBegin_ = std::move(begin);
  }

 private:
  struct MemberPod {
    const Pod* pod = nullptr;
    std::optional<std::size_t> node;  // where it is counted

    [[nodiscard]] auto identity() const {
      return std::tuple(std::string_view(pod->member->role), pod->member->index, pod->member->epoch);
    }
  };
  using MemberPods = std::vector<MemberPod>;
  // A pod that is counted; no pod for a victim that is gone.
  struct Held {
    std::size_t node = 0;
    const Pod* pod = nullptr;
  };
  using Credits = std::map<std::size_t, Resources>;
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  // A member that was let go may be bound though its job is gone, until the garbage collector has seen it.
  static bool mayBeOrphan(const Pod& pod) {
    return pod.controllerKind == model::names::kTrainingJobKind && pod.member;
  }

  // The index of the job that the pod's controller reference names.
  std::size_t namedOwnerOf(const Pod& pod) const {
    return jobIndex_.find(pod.controllerUid.str()).value_or(kNobody);
  }

  // The uid alone proves nothing: a controller reference can be copied, into another namespace too, and
  // labels name a place for anybody who writes them.
  static bool isMember(const Pod& pod, std::size_t owner, const model::Snapshot& snapshot) {
    if (owner == kNobody || pod.controllerKind != model::names::kTrainingJobKind) return false;
    const Job& job = *snapshot.jobs[owner];
    return job.key.ns == pod.key.ns && namedAsMember(pod, job);
  }

  void countPlacesOf(const Job& job, MemberPods& pods) {
    const auto& placed = job.status.gang.placed;
    const auto& proposal = job.status.gang.proposal;
    // A job that is being deleted gives up what runs, but an attempt under way may still release members.
    const bool running = placed && !job.deleting;
    if ((!running && !proposal) || job.finished()) return;
    std::sort(pods.begin(), pods.end(),
              [](const auto& a, const auto& b) { return a.identity() < b.identity(); });
    Credits credits;
    if (running) {
      for (const Assignment& assignment : placed->assignments) {
        const std::int64_t epoch = placed->epochOf(assignment);
        if (proposal && givesUp(*proposal)) {
          hold(job, keptOf(assignment, *proposal), epoch, pods, credits);
        } else {
          hold(job, assignment, epoch, pods, credits);
        }
      }
    }
    if (!proposal) return;
    creditReplaced(*proposal, pods, credits);
    creditVictims(*proposal, credits);
    for (const Assignment& assignment : proposal->add) hold(job, assignment, proposal->epoch, pods, credits);
  }

  void noteVictim(const Pod& pod, std::size_t node) {
    const auto found = victims_.find(pod.uid.str());
    if (found != victims_.end()) found->second = {node, &pod};
  }

  static bool removes(const model::Proposal& proposal, std::string_view role, int index) {
    if (proposal.kind == model::ProposalKind::kRestart) return true;
    return std::any_of(proposal.remove.begin(), proposal.remove.end(), [&](const Assignment& assignment) {
      return assignment.role == role && assignment.indices.contains(index);
    });
  }

  static bool givesUp(const model::Proposal& proposal) {
    return !proposal.remove.empty() || proposal.kind == model::ProposalKind::kRestart;
  }

  // Places that the proposal gives up are not held open: only their pods count, while they last.
  static Assignment keptOf(const Assignment& assignment, const model::Proposal& proposal) {
    std::vector<int> kept;
    for (const int index : assignment.indices.values()) {
      if (!removes(proposal, assignment.role, index)) kept.push_back(index);
    }
    return {assignment.node, assignment.role, model::IndexSet(std::move(kept)), assignment.epoch};
  }

  // The new place inherits from the pod that it replaces: per node the larger of both counts, not their sum.
  static void creditReplaced(const model::Proposal& proposal, const MemberPods& pods, Credits& credits) {
    for (const auto& [pod, node] : pods) {
      const bool replaced =
          pod->member->epoch != proposal.epoch && removes(proposal, pod->member->role, pod->member->index);
      if (node && replaced) credits[*node].add(pod->shape.requests);
    }
  }

  void creditVictims(const model::Proposal& proposal, Credits& credits) const {
    for (const model::Victim& victim : proposal.victims) {
      const Held& held = victims_.at(victim.uid.str());
      if (held.pod != nullptr) credits[held.node].add(held.pod->shape.requests);
    }
  }

  // Counts the members of `assignment` that no pod fills.
  void hold(const Job& job, const Assignment& assignment, std::int64_t epoch, const MemberPods& pods,
            Credits& credits) {
    const auto node = ledger_.find(assignment.node);
    const model::Role* role = job.spec.findRole(assignment.role);
    if (!node || role == nullptr) return;
    const auto open =
        std::count_if(assignment.indices.values().begin(), assignment.indices.values().end(), [&](int index) {
          return !isFilled(pods, std::tuple(std::string_view(assignment.role), index, epoch), *node);
        });
    if (open == 0) return;
    Resources amount = role->shape.requests.times(open);
    if (const auto credit = credits.find(*node); credit != credits.end()) spend(amount, credit->second);
    ledger_.nodes_[*node].free.subtract(amount);
    ledger_.places_.push_back(std::move(amount));
    ledger_.entries_.push_back({static_cast<std::uint32_t>(*node),
                                static_cast<std::uint32_t>(ledger_.places_.size() - 1), &job, nullptr});
  }

  template <typename Identity>
  static bool isFilled(const MemberPods& pods, const Identity& identity, std::size_t node) {
    auto at = std::lower_bound(
        pods.begin(), pods.end(), identity,
        [](const MemberPod& member, const auto& wanted) { return member.identity() < wanted; });
    for (; at != pods.end() && at->identity() == identity; ++at) {
      if (at->node == node || at->pod->phase == model::PodPhase::kSucceeded) return true;
    }
    return false;
  }

  Ledger& ledger_;
  NameIndex jobIndex_;                                  // by uid
  std::unordered_map<std::string_view, Held> victims_;  // by uid
  std::vector<MemberPods> members_;
};

Ledger::Ledger(const model::Snapshot& snapshot) : byName_(snapshot.nodes.size()) {
  nodes_.reserve(snapshot.nodes.size());
  for (const auto& node : snapshot.nodes) {
    byName_.add(node->name.str(), nodes_.size());
    nodes_.push_back({node.get(), node->allocatable});
  }
  entries_.reserve(snapshot.pods.size());
  Builder builder(*this, snapshot);
  builder.countPods(snapshot);
  builder.countPlaces(snapshot);
  builder.groupByNode();
}

std::optional<std::size_t> Ledger::find(const model::NodeName& name) const {
  return byName_.find(name.str());
}

void Ledger::take(std::size_t node, const Resources& requests, int count, const Job* by) {
  Resources amount = requests.times(count);
  nodes_[node].free.subtract(amount);
  places_.push_back(std::move(amount));
  taken_.push_back(
      {static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(places_.size() - 1), by, nullptr});
}

void Ledger::giveBack(std::size_t node, const Resources& requests, int count, const Job* by) {
  const Resources amount = requests.times(count);
  nodes_[node].free.add(amount);
  const auto found = std::find_if(taken_.rbegin(), taken_.rend(), [&](const Entry& entry) {
    return entry.node == node && entry.job == by && places_[entry.place] == amount;
  });
  if (found != taken_.rend()) taken_.erase(std::next(found).base());
}

}  // namespace trainyard::core
