#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/cycle/queue_report.h"
#include "core/cycle/schedule.h"
#include "core/cycle/waiting_order.h"
#include "core/place/gang_placer.h"
#include "core/timeline/ends.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {

// A contender that found no room.
struct Later {
  std::size_t wait = 0;  // index into Schedule::waits
  const Contender* contender = nullptr;
  GangShape shape;
  std::optional<std::size_t> like = std::nullopt;  // index of one that waits for the very same
};

// Who has waited too long, so that an order that puts short jobs first starves nobody.
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

  // Whether it has waited longer than it is expected to run; many times as long, where it takes turns. Never
  // where the order is that of submission.
  [[nodiscard]] bool isOverdue(const Contender& contender);
  // Who is to keep the reservation from now on: whoever keeps it already; else the one that has waited
  // longest by what it is expected to run (highest response ratio next: Brinch Hansen, 1971), once it is
  // overdue; else the first in the order. By position. `waitsForRoom`: others may wait for ever.
  [[nodiscard]] std::size_t elect(const Reservation& reservation, const std::vector<Later>& waiting,
                                  const std::function<bool(const Later&)>& waitsForRoom);

 private:
  // How long it has waited, by how long it is expected to run.
  [[nodiscard]] double responseRatio(const Contender& contender);

  Scene in_;
};

}  // namespace trainyard::core
