#include "core/timeline/earliest_fit.h"

#include <algorithm>
#include <utility>

#include "core/ledger/what_if.h"
#include "model/gang_size.h"
#include "model/member_of.h"

namespace trainyard::core {
namespace {

// A time at which the gang may fit: another gang ends, or a wider topology level becomes acceptable.
struct Moment {
  base::WallTime at{};
  Basis basis = Basis::kStated;
  std::optional<std::size_t> ending = std::nullopt;  // index into Ends::all()
  std::size_t widest = 0;
};

std::vector<Moment> momentsOf(const std::vector<Ending>& ends,
                              const std::vector<GangPlacer::Widening>& widenings, std::size_t widestNow) {
  std::vector<Moment> moments;
  moments.reserve(ends.size() + widenings.size());
  auto wider = widenings.begin();
  std::size_t widest = widestNow;
  const auto widenUntil = [&](base::WallTime at) {
    for (; wider != widenings.end() && wider->at <= at; ++wider) {
      widest = wider->widest;
      moments.push_back({wider->at, Basis::kStated, std::nullopt, widest});
    }
  };
  for (std::size_t i = 0; i < ends.size(); ++i) {
    widenUntil(ends[i].at);
    moments.push_back({ends[i].at, ends[i].basis, i, widest});
  }
  widenUntil(base::WallTime::max());
  return moments;
}

// The number of moments that must pass, at least, before as many GPUs are free as the job requests.
std::size_t leastMoments(const model::Job& job, const std::vector<Moment>& moments,
                         const std::vector<Ending>& ends, const Ledger& ledger) {
  std::int64_t missing = model::desiredGpus(job.spec);
  for (const Ledger::NodeCapacity& capacity : ledger.nodes())
    missing -= std::max<std::int64_t>(capacity.freeGpus, 0);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (missing <= 0) return std::max<std::size_t>(i, 1);
    if (moments[i].ending) {
      const model::Job& leaving = *ends[*moments[i].ending].job;
      missing -= model::gangGpus(leaving.spec, leaving.status.gang);
    }
  }
  return moments.size();
}

NodeAmounts straysLeaving(const Ledger& ledger) {
  NodeAmounts leaving;
  for (std::size_t node = 0; node < ledger.nodes().size(); ++node) {
    ledger.forEachHolding(node, [&](const Ledger::Holding& each) {
      if (each.pod == nullptr) return;
      // The garbage collector deletes a pod without its TrainingJob soon.
      const bool isOrphan = each.job == nullptr && model::claimsGang(*each.pod);
      if (!each.pod->terminating && !isOrphan) return;
      const bool isRecorded =
          each.job != nullptr && (each.job->status.gang.placed || each.job->status.gang.proposal);
      if (!isRecorded) leaving.emplace_back(node, each.amount);
    });
  }
  return leaving;
}

// Returns the smallest number from `least` to `most` for which fits(number) holds. fits() is monotonic.
template <typename Fits>
std::optional<std::size_t> leastThatFits(std::size_t least, std::size_t most, const WorkBudget& budget,
                                         Fits fits) {
  std::size_t enough = least;
  std::size_t tooFew = least == 0 ? 0 : least - 1;
  for (std::size_t step = 1; enough != tooFew && !fits(enough); step *= 2) {
    tooFew = enough;
    enough = std::min(enough + step, most);
    if (budget.exhausted()) return std::nullopt;
  }
  if (enough == tooFew) return std::nullopt;
  while (enough - tooFew > 1) {
    const std::size_t middle = tooFew + (enough - tooFew) / 2;
    (fits(middle) ? enough : tooFew) = middle;
  }
  return enough;
}

}  // namespace

std::optional<EarliestFit> earliestFit(const model::Job& job,
                                       const std::vector<GangPlacer::Widening>& widenings,
                                       std::size_t widestNow, Ledger& ledger, Ends& ends,
                                       GangPlacer& placer) {
  const std::vector<Moment> moments = momentsOf(ends.all(), widenings, widestNow);
  std::optional<Placement> placement;
  const auto fitsAfter = [&](std::size_t count) {
    WhatIf ended(ledger);
    for (std::size_t i = 0; i < count; ++i) {
      if (moments[i].ending) ended.release(ends.holds(*moments[i].ending));
    }
    auto placed = placer.tryPlace(job, count == 0 ? widestNow : moments[count - 1].widest);
    if (!placed) return false;
    placement = std::move(placed);
    return true;
  };
  std::optional<std::size_t> count = leastThatFits(leastMoments(job, moments, ends.all(), ledger),
                                                   moments.size(), placer.budget(), fitsAfter);
  bool awaitsStrays = false;
  if (!count && !placer.budget().exhausted()) {
    const NodeAmounts strays = straysLeaving(ledger);
    if (strays.empty()) return std::nullopt;
    WhatIf whatIf(ledger);
    whatIf.release(strays);
    awaitsStrays = true;
    count = fitsAfter(0) ? std::optional<std::size_t>(0)
                         : leastThatFits(std::min<std::size_t>(1, moments.size()), moments.size(),
                                         placer.budget(), fitsAfter);
  }
  if (!count) return std::nullopt;
  EarliestFit fit{.time = {*count == 0 ? ends.now() : moments[*count - 1].at, Basis::kStated},
                  .placement = std::move(*placement),
                  .awaitsStrays = awaitsStrays};
  if (awaitsStrays) fit.time.at = std::max<base::WallTime>(fit.time.at, ends.now() + kMinOverrun);
  for (std::size_t i = 0; i < *count; ++i) {
    fit.time.basis = std::min(fit.time.basis, moments[i].basis);
    if (moments[i].ending) fit.ended.push_back(*moments[i].ending);
  }
  return fit;
}

}  // namespace trainyard::core
