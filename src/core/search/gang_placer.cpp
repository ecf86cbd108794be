#include "core/search/gang_placer.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/queues/eligibility.h"
#include "core/resize.h"
#include "core/search/suspicion.h"
#include "model/gang_size.h"

namespace trainyard::core {

using model::Job;

const GangPlacer::Steps& GangPlacer::stepsOf(const Job& job, std::uint32_t shape, std::int64_t gpus) {
  const auto [known, isNew] = steps_.try_emplace({shape, job.spec.estimatedDuration});
  if (isNew) {
    const model::Locality& locality = job.spec.locality;
    RelaxationInput input{&locality, gpus, job.spec.estimatedDuration, 0};
    if (locality.levels.empty()) input.attainable = attainable(job, shape);
    known->second = relaxationSteps(input, snapshot_.policy.relaxation, domains_);
  }
  return known->second;
}

// Requires that `job` has no estimate.
const GangPlacer::Steps& GangPlacer::unestimatedSteps(const Job& job, std::uint32_t shape,
                                                      std::int64_t gpus) {
  if (shape >= unestimated_.size()) unestimated_.resize(shape + std::size_t{1}, nullptr);
  if (unestimated_[shape] == nullptr) unestimated_[shape] = &stepsOf(job, shape, gpus);
  return *unestimated_[shape];
}

GangShape GangPlacer::shapeOf(const Job& job, std::int64_t gpus, std::size_t position) {
  GangShape shape{cache_.shapeOf(job, position), {}};
  const auto& pendingFacts = cache_.notes.of(position).pendingFacts;
  const bool unestimated = pendingFacts && !pendingFacts->estimatedDuration;
  const Steps& steps = unestimated ? unestimatedSteps(job, shape.key, gpus) : stepsOf(job, shape.key, gpus);
  const auto waited =
      steps.size() == 1 ? base::WallTime::duration::zero() : snapshot_.now - waitingSinceOf(job, position);
  shape.relaxation = relaxationAt(steps, std::chrono::duration_cast<std::chrono::milliseconds>(waited));
  return shape;
}

std::vector<GangPlacer::Widening> GangPlacer::widenings(const Job& job, std::uint32_t shape,
                                                        std::size_t position) {
  std::vector<Widening> all;
  for (const RelaxationStep& step : stepsOf(job, shape, job.status.gpus)) {
    const base::WallTime at = waitingSinceOf(job, position) + step.after;
    if (at > snapshot_.now) all.push_back({at, step.widest});
  }
  return all;
}

base::WallTime GangPlacer::waitingSinceOf(const Job& job, std::size_t position) {
  auto& known = cache_.notes.of(position).waitingSince;
  if (!known) known = waitingSince(job, base::WallTime::max());
  // A status without that time is counted from now.
  return *known == base::WallTime::max() ? snapshot_.now : *known;
}

std::size_t GangPlacer::attainable(const Job& job, std::uint32_t shape) {
  const auto [found, isNew] = cache_.whenEmpty.attainable.try_emplace(shape, 0);
  if (isNew) {
    spend(nodes());
    // Per shape: closed nodes depend on the queue.
    PlaceRequest asked = request(job, 0);
    asked.closed = nullptr;
    found->second = tightestAttainable(asked, ledger_, domains_);
  }
  return found->second;
}

bool GangPlacer::mayEverStart(const Job& job, std::uint32_t shape) {
  // Nodes are closed to a job only if it could start without them.
  if (closedTo(job) != nullptr) return true;
  const auto [found, isNew] =
      cache_.whenEmpty.mayEverStart.try_emplace({shape, snapshot_.policy.resize.enabled}, true);
  if (isNew) {
    spend(nodes());
    const auto minimum = minimumOf(job, snapshot_.policy);
    found->second = fitsWhenEmpty(request(minimum ? *minimum : job, 0), ledger_, domains_);
  }
  return found->second;
}

PlaceRequest GangPlacer::request(const Job& job, std::size_t widest) {
  PlaceRequest request;
  request.job = &job;
  request.widest = widest;
  request.closed = closedTo(job);
  if (!mix_) mix_ = cache_.notes.mix();
  request.mix = &*mix_;
  const auto* planned = plannedShapes_.costsOf(job);
  request.shapeCosts = planned != nullptr ? planned : &snapshot_.policy.shapeCosts;
  request.refusals = &cache_.refusals;
  for (const model::Role& role : job.spec.roles) {
    std::vector<int> indices(static_cast<std::size_t>(model::gangMembers(job, role)));
    std::iota(indices.begin(), indices.end(), 0);
    if (!indices.empty()) request.groups.push_back({&role, model::IndexSet(std::move(indices))});
  }
  return request;
}

std::optional<Placement> GangPlacer::place(const Job& job, std::uint32_t shape, std::size_t widest) {
  const auto& backoff = job.status.gang.backoff;
  if (backoff && !backoff->avoidNodes.empty()) {
    std::vector<model::NodeName> failed = suspects();
    failed.insert(failed.end(), backoff->avoidNodes.begin(), backoff->avoidNodes.end());
    return placeAvoiding(job, widest, failed);
  }
  if (closedTo(job) != nullptr) return placeAvoiding(job, widest, suspects());
  const UnplacedShapes::Question question{shape, widest};
  if (cache_.unplaced.has(question, ledger_)) return std::nullopt;
  auto placement = placeAvoiding(job, widest, suspects());
  if (!placement) cache_.unplaced.remember(question, ledger_);
  return placement;
}

std::optional<Placement> GangPlacer::placeAvoiding(const Job& job, std::size_t widest,
                                                   const std::vector<model::NodeName>& failed) {
  PlaceRequest asked = request(job, widest);
  return avoidingAsPossible(failed, [&](std::vector<model::NodeName> avoided) {
    asked.avoidNodes = std::move(avoided);
    return tryPlace(asked);
  });
}

const std::vector<model::NodeName>& GangPlacer::suspects() {
  if (!suspects_)
    suspects_ = suspectedNodes(cache_.notes.accusing(), snapshot_.jobs, snapshot_.policy, snapshot_.now);
  return *suspects_;
}

std::optional<Placement> GangPlacer::tryClaim(const Job& job, std::size_t widest, const AvoidedNodes& avoid) {
  PlaceRequest asked = request(job, widest);
  const auto from = claimsAgainFrom(job);
  if (from && snapshot_.now < *from) asked.avoidNodes = job.status.gang.backoff->avoidNodes;
  asked.beyondQuota = avoid;
  return tryPlace(asked);
}

bool isUnbindable(const Job& job, base::WallTime now) {
  const auto& backoff = job.status.gang.backoff;
  if (!backoff || backoff->unbindable == 0 || backoff->unbindable != job.generation) return false;
  const auto from = claimsAgainFrom(job);
  return from && now < *from;
}

std::optional<base::WallTime> claimsAgainFrom(const Job& job) {
  constexpr std::chrono::minutes kFirst{10};
  constexpr int kMaxDoublings = 7;  // almost a day
  const auto& backoff = job.status.gang.backoff;
  if (!backoff || backoff->avoidNodes.empty()) return std::nullopt;
  return backoff->until + kFirst * (1 << std::clamp(backoff->count - 1, 0, kMaxDoublings));
}

std::optional<Placement> GangPlacer::tryPlace(const PlaceRequest& request) {
  const auto find = [&](const PlaceRequest& asked) {
    spend(nodes());
    auto placement = findPlacement(asked, ledger_, domains_);
    spend(0);  // charges constraints that this search evaluated first
    return placement;
  };
  if (const std::string* type = preferredTypes_.of(*request.job)) {
    const auto& others = cache_.gpuTypes(snapshot_).others();
    if (const auto avoided = others.find(*type); avoided != others.end()) {
      PlaceRequest asked = request;
      asked.avoidNodes.insert(asked.avoidNodes.end(), avoided->second.begin(), avoided->second.end());
      if (auto placement = find(asked)) return placement;
    }
  }
  return usesOneType(request) ? placeOnOneType(request, cache_.gpuTypes(snapshot_), find) : find(request);
}

bool GangPlacer::usesOneType(const PlaceRequest& request) {
  if (snapshot_.policy.mixGpuTypes) return false;
  return cache_.gpuTypes(snapshot_).matter(request);
}

PlacementFailure GangPlacer::failure(const Job& job, std::size_t widest) {
  // Two searches, and a message about every node.
  constexpr std::int64_t kTermsCost = 8;
  spend(kTermsCost * nodes());
  auto placed = core::place(request(job, widest), ledger_, domains_);
  if (auto* failure = std::get_if<PlacementFailure>(&placed)) {
    const auto minimum =
        failure->reason == model::PendingReason::kTooLarge ? minimumOf(job, snapshot_.policy) : nullptr;
    if (!minimum) return std::move(*failure);
    auto placedMinimum = core::place(request(*minimum, widest), ledger_, domains_);
    if (auto* ofLeast = std::get_if<PlacementFailure>(&placedMinimum)) return std::move(*ofLeast);
    // A placement for its minimum exists, but the gang may not use it.
    failure->reason = model::PendingReason::kWaitingForTopology;
    return std::move(*failure);
  }
  // The capacity suffices, but not on one type of GPU.
  PlacementFailure failure;
  failure.reason = model::PendingReason::kWaitingForTopology;
  failure.needs = "needs all its GPUs of one type";
  failure.message = fmt::format("{}: the free GPUs suffice only on nodes of different {}", failure.needs,
                                snapshot_.policy.gpuTypeLabel);
  return failure;
}

}  // namespace trainyard::core
