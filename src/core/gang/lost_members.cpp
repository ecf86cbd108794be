#include "core/gang/lost_members.h"

#include <algorithm>
#include <utility>

#include "core/gang/gang_resize.h"
#include "core/ledger/what_if.h"
#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "model/charge.h"

namespace trainyard::core {
namespace {

using model::Job;

// The capacity that becomes free once these members are gone.
NodeAmounts capacityOf(const Job& job, const std::vector<Member>& members, const Ledger& ledger) {
  NodeAmounts capacity;
  for (const Member& member : members) {
    const model::Role* role = job.spec.findRole(member.role);
    const bool counted = member.pod != nullptr && !member.pod->finished();
    const auto at = ledger.find(counted ? member.pod->node : member.node);
    if (!at || role == nullptr) continue;
    // A member that succeeded holds nothing beyond what its pod still holds.
    if (member.succeeded && !counted) continue;
    capacity.emplace_back(*at, counted ? member.pod->shape.requests : role->shape.requests);
  }
  return capacity;
}

PlaceRequest requestFor(const Job& job, const std::vector<Member>& members) {
  PlaceRequest request;
  request.job = &job;
  for (const model::Role& role : job.spec.roles) {
    std::vector<int> indices;
    for (const Member& member : members) {
      if (member.role == role.name) indices.push_back(member.index);
    }
    if (!indices.empty()) request.groups.push_back({&role, model::IndexSet(std::move(indices))});
  }
  return request;
}

std::vector<model::Assignment> assignmentsOf(const std::vector<Member>& members) {
  std::vector<model::Assignment> assignments;
  for (const Member& member : members) {
    assignments.push_back({member.node, member.role, model::IndexSet({member.index})});
  }
  return assignments;
}

std::vector<model::Assignment> stayingOf(const std::vector<Member>& members,
                                         const std::vector<Member>& replaced) {
  if (replaced.size() == members.size()) return {};
  std::vector<Member> staying;
  for (const Member& member : members) {
    const bool goes = std::any_of(replaced.begin(), replaced.end(), [&](const Member& each) {
      return each.role == member.role && each.index == member.index;
    });
    if (!goes) staying.push_back(member);
  }
  return assignmentsOf(staying);
}

// All members, including those that stay, get one type of GPU. A gang that has two already may keep both.
std::optional<Placement> findOnSameType(const PlaceRequest& request,
                                        const std::vector<model::Assignment>& staying,
                                        const PlacementScope& placementScope) {
  const auto find = [&](const PlaceRequest& asked) {
    return findPlacement(asked, placementScope.ledger, placementScope.domains);
  };
  if (placementScope.types == nullptr || placementScope.types->straddles(*request.job, staying))
    return find(request);
  return placeOnOneType(request, *placementScope.types, find, staying);
}

// The quota of the gang that the new places exceed. Capacity that the gang gives up needs no new quota.
std::optional<Excess> beyondQuota(const Job& job, const std::vector<model::Assignment>& assignments,
                                  const std::vector<model::Assignment>& replaced, const QueueTree& queues) {
  Amounts more = heldBy(queues.capacity(), job, assignments);
  const Amounts less = heldBy(queues.capacity(), job, replaced);
  for (std::size_t d = 0; d < more.size(); ++d) more[d] = std::max<std::int64_t>(more[d] - less[d], 0);
  return exceededQuota(queues, queues.queueOf(job), more, model::chargedPreemptible(job));
}

std::optional<Placement> findPlacementFor(const Job& job, const std::vector<Member>& members,
                                          const std::vector<Member>& replaced,
                                          const std::vector<Member>& leaving,
                                          const PlacementScope& placementScope) {
  PlaceRequest request = requestFor(job, replaced);
  const std::vector<model::Assignment> staying = stayingOf(members, leaving);
  const std::vector<model::Assignment> left = assignmentsOf(leaving);
  const auto& backoff = job.status.gang.backoff;
  const std::vector<model::NodeName> failed = backoff ? backoff->avoidNodes : std::vector<model::NodeName>{};
  while (true) {
    auto placement = avoidingAsPossible(failed, [&](std::vector<model::NodeName> avoided) {
      request.avoidNodes = std::move(avoided);
      return findOnSameType(request, staying, placementScope);
    });
    if (!placement) return std::nullopt;
    const auto beyond = beyondQuota(job, placement->assignments, left, placementScope.queues);
    if (!beyond) return placement;
    if (!request.beyondQuota.add(placementScope.queues.capacity(), beyond->dimension)) return std::nullopt;
  }
}

// Finds places for `replaced`, with the capacity that the members of `leaving` give up.
std::optional<Placement> findNewPlacement(const Job& job, const std::vector<Member>& members,
                                          const std::vector<Member>& replaced,
                                          const std::vector<Member>& leaving,
                                          const PlacementScope& placementScope) {
  const NodeAmounts capacity = capacityOf(job, leaving, placementScope.ledger);
  WhatIf gone(placementScope.ledger);
  gone.release(capacity);
  return findPlacementFor(job, members, replaced, leaving, placementScope);
}

// The remaining members if the gang goes on without the
// lost ones: members 0 to n - 1 of the elastic role.
struct Survivors {
  std::vector<Member> staying;    // keep their places
  std::vector<Member> displaced;  // survivors with indices from n on: their places go to `holes`
  std::vector<Member> holes;      // lost members with indices below n
};

// Empty if they are too few, or if the gang needs the lost members.
std::optional<Survivors> survivorsOf(const Job& job, const std::vector<Member>& members,
                                     const std::vector<Member>& lost) {
  if (!job.spec.elastic) return std::nullopt;
  const model::Elastic& elastic = *job.spec.elastic;
  const auto isElastic = [&](const Member& each) { return each.role == elastic.role; };
  if (!std::all_of(lost.begin(), lost.end(), isElastic)) return std::nullopt;
  const int size = static_cast<int>(std::count_if(members.begin(), members.end(), isElastic) -
                                    static_cast<std::ptrdiff_t>(lost.size()));
  if (size < std::max(elastic.minReplicas, 1)) return std::nullopt;
  Survivors survivors;
  for (const Member& member : members) {
    const bool isLost = std::any_of(lost.begin(), lost.end(), [&](const Member& each) {
      return each.role == member.role && each.index == member.index;
    });
    const bool belongs = !isElastic(member) || member.index < size;
    if (isLost && belongs) survivors.holes.push_back(member);
    if (!isLost) (belongs ? survivors.staying : survivors.displaced).push_back(member);
  }
  return survivors;
}

std::vector<Member> together(std::vector<Member> members, const std::vector<Member>& more) {
  members.insert(members.end(), more.begin(), more.end());
  return members;
}

// A gang of which enough members remain goes on with them. Empty if it cannot.
//   lost ones are the last   the gang shrinks by them
//   there are holes          the last survivors end, and the holes are filled on their places
//   it has to restart        it restarts as a whole, with as many members as remain
std::optional<Replacement> continueWithFewer(const Job& job, const std::vector<Member>& members,
                                             const std::vector<Member>& lost, bool whole,
                                             const PlacementScope& placementScope, const Author& author) {
  const auto survivors = survivorsOf(job, members, lost);
  if (!survivors) return std::nullopt;
  Replacement replacement;
  if (whole || resizeMethod(job.spec) == ResizeMethod::kByRestart) {
    const std::vector<Member> fewer = together(survivors->staying, survivors->holes);
    auto planned = findNewPlacement(job, members, fewer, members, placementScope);
    if (!planned) return std::nullopt;
    replacement.assignments = std::move(planned->assignments);
    replacement.record = propose(job, model::ProposalKind::kRestart, replacement.assignments,
                                 job.status.gang.placed->assignments, {}, author);
    return replacement;
  }
  if (survivors->holes.empty()) {
    replacement.record = proposeShrink(job, assignmentsOf(lost), std::nullopt, author);
    return replacement;
  }
  const std::vector<Member> leaving = together(lost, survivors->displaced);
  auto planned = findNewPlacement(job, members, survivors->holes, leaving, placementScope);
  if (!planned) return std::nullopt;
  replacement.assignments = std::move(planned->assignments);
  replacement.record = propose(job, model::ProposalKind::kReplace, replacement.assignments,
                               assignmentsOf(leaving), {}, author);
  return replacement;
}

}  // namespace

Replacement replaceLost(const Job& job, const std::vector<Member>& members, const std::vector<Member>& lost,
                        const PlacementScope& placementScope, const Author& author) {
  const bool whole = job.spec.failure.scope == model::RestartScope::kGang;
  const std::vector<Member>& replaced = whole ? members : lost;
  Replacement replacement;
  if (auto planned = findNewPlacement(job, members, replaced, replaced, placementScope)) {
    replacement.assignments = std::move(planned->assignments);
  } else if (auto fewer = continueWithFewer(job, members, lost, whole, placementScope, author)) {
    return std::move(*fewer);
  }
  const bool restart = whole || replacement.assignments.empty();
  replacement.record = propose(
      job, restart ? model::ProposalKind::kRestart : model::ProposalKind::kReplace, replacement.assignments,
      restart ? job.status.gang.placed->assignments : assignmentsOf(replaced), {}, author);
  return replacement;
}

}  // namespace trainyard::core
