#include "core/cycle/overdue.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/order/stop_cost.h"
#include "core/queues/eligibility.h"

namespace trainyard::core {
namespace {

// With time slicing, the order gives each job its part, however late. A job is overdue only after this many
// times its wait under equal parts of the cluster. That wait is its run time times the load.
constexpr double kPatienceOfTurns = 8;
// So many of the longest pending jobs may be elected as the holder of a reservation.
constexpr std::size_t kMostElectable = 64;

}  // namespace

bool Overdue::isOverdue(const Contender& contender) {
  // Under the order of submission no later job is served first.
  if (!model::traitsOf(in_.snapshot.policy.ordering).takesTurns) return false;
  const bool takesPart = takesTurns(in_.snapshot.policy) && survivesStops(contender.waiting->job->spec);
  return responseRatio(contender) > (takesPart ? kPatienceOfTurns * in_.report.load() : 1);
}

double Overdue::responseRatio(const Contender& contender) {
  using Seconds = std::chrono::duration<double>;
  const model::Job& job = *contender.waiting->job;
  const Seconds waited = in_.snapshot.now - in_.placer.waitingSinceOf(job, contender.position);
  Seconds run = cautiousRun(job, in_.snapshot.now, in_.runs).time;
  // A job that cannot be preempted may run longer than it states.
  if (!job.spec.preemptible) run = std::max<Seconds>(run, in_.snapshot.policy.backfill.reservationLimit);
  return waited.count() / std::max(1.0, run.count());
}

std::size_t Overdue::elect(const Reservation& reservation, const std::vector<Later>& waiting,
                           const std::function<bool(const Later&)>& waitsForRoom) {
  const Holder& holder = reservation.holder();
  const auto& said = holder.job->status.pending;
  const bool keeps = said && said->reservedSince;
  if (keeps || !model::traitsOf(in_.snapshot.policy.ordering).takesTurns) return holder.position;
  std::vector<std::pair<base::WallTime, const Later*>> oldest;
  for (const Later& each : waiting)
    oldest.emplace_back(in_.placer.waitingSinceOf(*each.contender->waiting->job, each.contender->position),
                        &each);
  const auto asked = std::min(kMostElectable, oldest.size());
  std::partial_sort(oldest.begin(), oldest.begin() + static_cast<std::ptrdiff_t>(asked), oldest.end(),
                    [](const auto& a, const auto& b) {
                      return std::tie(a.first, a.second->wait) < std::tie(b.first, b.second->wait);
                    });
  const std::uint32_t pool = in_.cache.poolOf(*holder.job, holder.shape);
  const auto* closed = in_.placer.closedTo(*holder.job);
  std::size_t elected = holder.position;
  double best = 0;
  for (std::size_t i = 0; i < asked; ++i) {
    const Contender& contender = *oldest[i].second->contender;
    const model::Job& job = *contender.waiting->job;
    if (contender.priority < holder.rank.priority ||
        in_.cache.poolOf(job, oldest[i].second->shape.key) != pool)
      continue;
    const auto* closedToIt = in_.placer.closedTo(job);
    if ((closed == nullptr) != (closedToIt == nullptr) || (closed != nullptr && *closed != *closedToIt))
      continue;
    if (!waitsForRoom(*oldest[i].second)) continue;
    if (!isOverdue(contender)) continue;
    const double ratio = responseRatio(contender);
    if (ratio <= best) continue;
    best = ratio;
    elected = contender.position;
  }
  return elected;
}

}  // namespace trainyard::core
