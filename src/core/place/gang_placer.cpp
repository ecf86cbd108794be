#include "core/place/gang_placer.h"

#include <numeric>
#include <utility>
#include <vector>

#include "core/queues/eligibility.h"
#include "model/gang_size.h"

namespace trainyard::core {

using model::Job;

GangShape GangPlacer::shapeOf(const Job& job, std::int64_t gpus, std::size_t position) {
  GangShape shape{cache_.shapeOf(job, position), {}};
  const auto [known, isNew] = steps_.try_emplace({shape.key, job.spec.estimatedDuration});
  std::vector<RelaxationStep>& steps = known->second;
  if (isNew) {
    const model::Locality& locality = job.spec.locality;
    RelaxationInput input{&locality, gpus, job.spec.estimatedDuration, 0};
    if (locality.levels.empty()) input.attainable = attainable(job, shape.key);
    steps = relaxationSteps(input, snapshot_.policy.relaxation, domains_);
  }
  const auto waited =
      steps.size() == 1 ? base::WallTime::duration::zero() : snapshot_.now - waitingSinceOf(job, position);
  shape.relaxation = relaxationAt(steps, std::chrono::duration_cast<std::chrono::milliseconds>(waited));
  return shape;
}

base::WallTime GangPlacer::waitingSinceOf(const Job& job, std::size_t position) {
  auto& known = cache_.notes.of(position).waitingSince;
  if (!known) known = waitingSince(job, base::WallTime::max());
  // Where the status does not tell, it is now.
  return *known == base::WallTime::max() ? snapshot_.now : *known;
}

std::size_t GangPlacer::attainable(const Job& job, std::uint32_t shape) {
  const auto [found, isNew] = cache_.attainable.try_emplace(shape, 0);
  if (isNew) found->second = tightestAttainable(request(job, 0), ledger_, domains_);
  return found->second;
}

PlaceRequest GangPlacer::request(const Job& job, std::size_t widest) {
  PlaceRequest request;
  request.job = &job;
  request.widest = widest;
  if (!mix_) mix_ = cache_.notes.mix();
  request.mix = &*mix_;
  request.shapeCosts = &snapshot_.policy.shapeCosts;
  for (const model::Role& role : job.spec.roles) {
    std::vector<int> indices(static_cast<std::size_t>(model::gangMembers(job, role)));
    std::iota(indices.begin(), indices.end(), 0);
    if (!indices.empty()) request.groups.push_back({&role, model::IndexSet(std::move(indices))});
  }
  return request;
}

std::optional<Placement> GangPlacer::tryPlace(const Job& job, std::size_t widest) {
  auto placed = placeAvoiding(request(job, widest), ledger_, domains_);
  if (auto* placement = std::get_if<Placement>(&placed)) return std::move(*placement);
  return std::nullopt;
}

}  // namespace trainyard::core
