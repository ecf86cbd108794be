#include "core/timeline/reservation.h"

#include <algorithm>
#include <utility>

#include "core/ledger/node_misfit.h"
#include "core/ledger/what_if.h"
#include "core/timeline/earliest_fit.h"
#include "model/one_per_node.h"

namespace trainyard::core {
namespace {

using Assignments = std::vector<model::Assignment>;

bool anyNegative(const model::Resources& amount) {
  const auto negative = [](const auto& entry) {
    return entry.second < (model::isOnePerNode(entry.first) ? -1 : 0);
  };
  const auto& extended = amount.extendedAll();
  return !model::allNative([&](const auto& native) { return native.in(amount) >= 0; }) ||
         std::any_of(extended.begin(), extended.end(), negative);
}

// Subtracts from `taken`, node by node, what `given` has there, but not below zero.
void handOver(const NodeAmounts& given, NodeAmounts& taken) {
  for (const auto& [node, amount] : given) {
    for (auto& [at, left] : taken) {
      if (at == node) left.subtractUpTo(amount);
    }
  }
}

}  // namespace

std::vector<char> poolOf(const model::Job& job, const Ledger& ledger) {
  const bool gpus = std::any_of(job.spec.roles.begin(), job.spec.roles.end(),
                                [](const model::Role& role) { return role.shape.requests.gpus() > 0; });
  std::vector<char> pool(ledger.nodes().size(), 0);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const bool usable =
        std::any_of(job.spec.roles.begin(), job.spec.roles.end(), [&](const model::Role& role) {
          if (gpus && role.shape.requests.gpus() <= 0) return false;
          return !nodeRefusal(*ledger.nodes()[i].node, role.shape);
        });
    pool[i] = usable ? 1 : 0;
  }
  return pool;
}

std::vector<char> openPoolOf(const model::Job& job, const Ledger& ledger, const GangPlacer& placer) {
  std::vector<char> pool = poolOf(job, ledger);
  const auto* closed = placer.closedTo(job);
  if (closed == nullptr) return pool;
  for (const model::NodeName& name : *closed) {
    if (const auto node = ledger.find(name)) pool[*node] = 0;
  }
  return pool;
}

Reservation::Reservation(Holder holder, const model::Snapshot& snapshot, Ledger& ledger, Ends& ends,
                         GangPlacer& placer)
    : holder_(std::move(holder)),
      snapshot_(snapshot),
      ledger_(ledger),
      pool_(openPoolOf(*holder_.job, ledger, placer)),
      freed_(recentlyFreed(snapshot, ledger, *holder_.job)) {
  findStart(ends, placer);
}

void Reservation::findStart(Ends& ends, GangPlacer& placer) {
  const model::Job& job = *holder_.job;
  auto fit = earliestFit(job, placer.widenings(job, holder_.shape, holder_.position), holder_.widest, ledger_,
                         ends, placer);
  if (!fit) return;
  start_ = fit->time;
  assignments_ = std::move(fit->placement.assignments);
  for (const auto& [node, amount] : amountsOf(job, assignments_, ledger_)) spare_[node].subtract(amount);
  const auto isLeaving = [&](std::size_t ending) { return ends.all()[ending].isLeaving; };
  isImminent_ =
      isImminent(*start_, fit->awaitsStrays || std::any_of(fit->ended.begin(), fit->ended.end(), isLeaving),
                 snapshot_.now);
  for (const std::size_t ending : fit->ended) {
    for (const auto& [node, amount] : ends.holds(ending)) {
      if (const auto at = spare_.find(node); at != spare_.end()) at->second.add(amount);
    }
  }
}

BackfillVerdict Reservation::judge(const Asking& asking, const Assignments& assignments) {
  using Kind = BackfillVerdict::Kind;
  if (asking.isEntitled) return {};
  const BackfillVerdict briefly{.kind = Kind::kReservedBriefly};
  if (leavesCapacity(asking, assignments)) {
    if (justFreed(assignments)) return briefly;
    if (asking.preempts || !asking.request.isPreemptible) return {};
    base::WallTime from = conditionFrom(asking.request.run, snapshot_.now, snapshot_.policy);
    // The holder has no use for it before its start, unless its own placement fails.
    if (start_ && start_->basis != Basis::kGuess) from = std::max(from, start_->at);
    return {Kind::kConditional, from};
  }
  const BackfillVerdict lent = lendReserved(asking.request, reserved(), snapshot_.now, snapshot_.policy);
  return !lent.isReserved() && !lent.endsInTime && justFreed(assignments) ? briefly : lent;
}

bool Reservation::justFreed(const Assignments& assignments) const {
  return std::any_of(assignments.begin(), assignments.end(), [&](const auto& each) {
    return std::binary_search(freed_.nodes.begin(), freed_.nodes.end(), each.node);
  });
}

bool Reservation::concerns(const Assignments& assignments) const {
  return std::any_of(assignments.begin(), assignments.end(), [&](const auto& each) {
    const auto node = ledger_.find(each.node);
    return node && pool_[*node] != 0;
  });
}

bool Reservation::leavesCapacity(const Asking& asking, const Assignments& assignments) {
  if (!start_) return false;
  NodeAmounts taken = amountsOf(*asking.job, assignments, ledger_);
  if (asking.handedOver != nullptr) {
    for (const Change& each : *asking.handedOver) handOver(amountsOf(*each.job, each.remove, ledger_), taken);
  }
  WhatIf without(ledger_);
  without.take(taken);
  return std::all_of(taken.begin(), taken.end(), [&](const auto& each) {
    const auto spare = spare_.find(each.first);
    if (spare == spare_.end()) return true;
    model::Resources then = ledger_.nodes()[each.first].free;
    then.add(spare->second);
    return !anyNegative(then);
  });
}

std::vector<model::NodeName> Reservation::reservedNodes() const {
  std::vector<model::NodeName> names;
  for (const auto& [node, amount] : spare_) names.push_back(ledger_.nodes()[node].node->name);
  return names;
}

std::optional<base::WallTime> Reservation::wakeAt() const {
  std::optional<base::WallTime> start;
  if (start_ && start_->basis == Basis::kStated) start = start_->at;
  if (!start || !freed_.nextEnd) return start ? start : freed_.nextEnd;
  return std::min(*start, *freed_.nextEnd);
}

}  // namespace trainyard::core
