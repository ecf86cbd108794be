#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/schedule/pending_order.h"
#include "core/schedule/queue_report.h"
#include "core/schedule/schedule.h"
#include "core/search/gang_placer.h"
#include "core/timeline/ends.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {

// A pending job that found no placement.
struct UnplacedJob {
  std::size_t wait = 0;  // index into Schedule::waits
  const PendingJob* pendingJob = nullptr;
  GangShape shape;
  std::optional<std::size_t> equivalentTo = std::nullopt;  // index of an equivalent job in the same list
};

// Finds overdue jobs, so that an order that puts short jobs first starves no job.
class Overdue {
 public:
  struct Scene {
    const model::Snapshot& snapshot;
    GangPlacer& placer;
    PlacementCache& cache;
    const QueueReport& report;
    RunTimeModel& runs;
  };
  explicit Overdue(Scene scene) : in_(scene) {}

  // Returns true if the job has been pending longer than it is expected to run; with time slicing, many
  // times as long. Never under the order of submission.
  [[nodiscard]] bool isOverdue(const PendingJob& pendingJob);
  // Returns the position of the job that gets the reservation from now on: the holder, if it has it already;
  // else the overdue job with the longest wait by expected run time (highest response ratio next: Brinch
  // Hansen, 1971); else the first in the order. `waitsForCapacity`: false for jobs that may wait for ever.
  [[nodiscard]] std::size_t elect(const Reservation& reservation, const std::vector<UnplacedJob>& waiting,
                                  const std::function<bool(const UnplacedJob&)>& waitsForCapacity);

 private:
  // The time that the job has been pending, divided by its expected run time.
  [[nodiscard]] double responseRatio(const PendingJob& pendingJob);

  Scene in_;
};

}  // namespace trainyard::core
