#include "core/gang/lost_members.h"

#include <utility>
#include <variant>

#include "core/ledger/what_if.h"

namespace trainyard::core {
namespace {

using model::Job;

// What will be free once these members are gone.
NodeAmounts roomOf(const Job& job, const std::vector<Member>& members, const Ledger& ledger) {
  NodeAmounts room;
  for (const Member& member : members) {
    const model::Role* role = job.spec.findRole(member.role);
    const bool counted = member.pod != nullptr && !member.pod->finished();
    const auto at = ledger.find(counted ? member.pod->node : member.node);
    if (!at || role == nullptr) continue;
    // A member that ended well holds nothing any more.
    if (member.succeeded) continue;
    room.emplace_back(*at, counted ? member.pod->shape.requests : role->shape.requests);
  }
  return room;
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

}  // namespace

Replacement replaceLost(const Job& job, const std::vector<Member>& members, const std::vector<Member>& lost,
                        Ledger& ledger, const Domains& domains, const Author& author) {
  const bool whole = job.spec.failure.scope == model::RestartScope::kGang;
  const std::vector<Member>& replaced = whole ? members : lost;
  const NodeAmounts room = roomOf(job, replaced, ledger);
  WhatIf gone(ledger);
  gone.release(room);
  auto planned = findPlacesAvoiding(requestFor(job, replaced), ledger, domains);
  Replacement replacement;
  if (planned) replacement.places = std::move(planned->assignments);
  const bool restart = whole || replacement.places.empty();
  replacement.record = propose(
      job, restart ? model::ProposalKind::kRestart : model::ProposalKind::kReplace, replacement.places,
      restart ? job.status.gang.placed->assignments : assignmentsOf(replaced), {}, author);
  return replacement;
}

}  // namespace trainyard::core
