#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/queues/quota_check.h"
#include "core/schedule/reservation_book.h"
#include "core/schedule/schedule_context.h"

namespace trainyard::core {

// What a search for a placement within quota found.
struct QuotaPlacement {
  std::optional<Placement> placement = std::nullopt;
  // If quota is why there is no placement: the first one that was exceeded.
  std::optional<Excess> exhausted = std::nullopt;
  // The pending job that quota below that limit is kept for, if that is why.
  std::shared_ptr<const model::Job> keptFor = nullptr;
};

// Phase 5: finds placements in free capacity that the quotas of the queue admit.
class QuotaPlacer {
 public:
  QuotaPlacer(ScheduleContext& context, ReservationBook& book) : in_(context), book_(book) {}

  // The placement of the whole gang. It leaves out nodes of a GPU type if the queue's quota of that type is
  // used up, or kept for another gang.
  [[nodiscard]] QuotaPlacement place(const PendingJob& pendingJob, std::uint32_t shape, std::size_t widest);
  // As above, for the job at some other size.
  [[nodiscard]] QuotaPlacement placeSized(const PendingJob& pendingJob, const model::Job& sized,
                                          std::size_t widest);
  // The placement of an elastic gang with that many members, off the nodes in `avoid`.
  [[nodiscard]] std::optional<Placement> placeWith(const PendingJob& pendingJob, int members,
                                                   std::size_t widest,
                                                   const std::vector<model::NodeName>& avoid = {});
  // Another placement than `found`, of which nothing is reserved: off the nodes that a gang has just left, or
  // off the reserved nodes as well.
  [[nodiscard]] std::optional<Placement> placeOffReserved(const PendingJob& pendingJob,
                                                          const GangShape& shape, const Placement& found);

 private:
  [[nodiscard]] QuotaPlacement within(const PendingJob& pendingJob, PlaceRequest request,
                                      std::optional<Placement> placement);
  [[nodiscard]] std::optional<Placement> placeOffNodes(std::vector<model::NodeName> nodes,
                                                       const PendingJob& pendingJob, const GangShape& shape);

  ScheduleContext& in_;
  ReservationBook& book_;
};

}  // namespace trainyard::core
