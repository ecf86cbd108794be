#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/schedule/quota_placer.h"

namespace trainyard::core {

// Phase 5 for an elastic gang without capacity for all its members: it starts with as many as fit, down to
// its minimum.
class ElasticStart {
 public:
  ElasticStart(ScheduleContext& context, ReservationBook& book, QuotaPlacer& placer)
      : in_(context), book_(book), placer_(placer) {}

  // Returns whether the gang was started.
  bool startSmaller(const PendingJob& pendingJob);

 private:
  [[nodiscard]] std::optional<Placement> placeSmaller(const PendingJob& pendingJob, std::size_t widest,
                                                      const std::vector<model::NodeName>& avoid);

  ScheduleContext& in_;
  ReservationBook& book_;
  QuotaPlacer& placer_;
};

}  // namespace trainyard::core
