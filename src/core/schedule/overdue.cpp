#include "core/schedule/overdue.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/order/preemption_cost.h"
#include "core/queues/eligibility.h"

namespace trainyard::core {
namespace {

// With time slicing, the order gives each job its part, however late. A job is overdue only after this many
// times its wait under equal parts of the cluster. That wait is its run time times the load.
constexpr double kTimeSlicingPatience = 8;
// So many of the longest pending jobs may be elected as the holder of a reservation.
constexpr std::size_t kMaxElectable = 64;

}  // namespace

bool Overdue::isOverdue(const PendingJob& pendingJob) {
  if (isOrderOfCreation(in_.snapshot.policy.ordering)) return false;
  const bool isTimeSliced =
      allowsTimeSlicing(in_.snapshot.policy) && isCheckpointable(pendingJob.waiting->job->spec);
  return responseRatio(pendingJob) > (isTimeSliced ? kTimeSlicingPatience * in_.report.load() : 1);
}

double Overdue::responseRatio(const PendingJob& pendingJob) {
  using Seconds = std::chrono::duration<double>;
  const model::Job& job = *pendingJob.waiting->job;
  const Seconds waited = in_.snapshot.now - in_.placer.waitingSinceOf(job, pendingJob.position);
  Seconds run = cautiousRun(job, in_.snapshot.now, in_.runs).time;
  // A job that cannot be preempted may run longer than it states.
  if (!job.spec.preemptible) run = std::max<Seconds>(run, in_.snapshot.policy.backfill.reservationLimit);
  return waited.count() / std::max(1.0, run.count());
}

std::size_t Overdue::elect(const Reservation& reservation, const std::vector<UnplacedJob>& waiting,
                           const std::function<bool(const UnplacedJob&)>& waitsForCapacity) {
  const Holder& holder = reservation.holder();
  const auto& reported = holder.job->status.pending;
  const bool keeps = reported && reported->reservedSince;
  if (keeps || isOrderOfCreation(in_.snapshot.policy.ordering)) return holder.position;
  std::vector<std::pair<base::WallTime, const UnplacedJob*>> oldest;
  for (const UnplacedJob& each : waiting)
    oldest.emplace_back(in_.placer.waitingSinceOf(*each.pendingJob->waiting->job, each.pendingJob->position),
                        &each);
  const auto asked = std::min(kMaxElectable, oldest.size());
  std::partial_sort(oldest.begin(), oldest.begin() + static_cast<std::ptrdiff_t>(asked), oldest.end(),
                    [](const auto& a, const auto& b) {
                      return std::tie(a.first, a.second->wait) < std::tie(b.first, b.second->wait);
                    });
  const std::uint32_t pool = in_.cache.poolOf(*holder.job, holder.shape);
  const auto* closed = in_.placer.closedTo(*holder.job);
  std::size_t elected = holder.position;
  double best = 0;
  for (std::size_t i = 0; i < asked; ++i) {
    const PendingJob& pendingJob = *oldest[i].second->pendingJob;
    const model::Job& job = *pendingJob.waiting->job;
    if (pendingJob.priority < holder.queuePosition.priority ||
        in_.cache.poolOf(job, oldest[i].second->shape.key) != pool)
      continue;
    const auto* closedToIt = in_.placer.closedTo(job);
    if ((closed == nullptr) != (closedToIt == nullptr) || (closed != nullptr && *closed != *closedToIt))
      continue;
    if (!waitsForCapacity(*oldest[i].second)) continue;
    if (!isOverdue(pendingJob)) continue;
    const double ratio = responseRatio(pendingJob);
    if (ratio <= best) continue;
    best = ratio;
    elected = pendingJob.position;
  }
  return elected;
}

}  // namespace trainyard::core
