#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/queues/quota_check.h"
#include "core/schedule/pending_order.h"
#include "core/schedule/schedule_context.h"
#include "core/timeline/backfill.h"
#include "core/timeline/limit_hold.h"

namespace trainyard::core {

// The quota below limits that this cycle keeps for pending gangs (core/timeline/limit_hold.h).
class LimitHolds {
 public:
  explicit LimitHolds(ScheduleContext& context) : in_(context) {}

  // Keeps quota below the exceeded limit. Returns false if it is kept for another gang already, or if the
  // gang needs more than the limit. `seen`: the ends as the holder sees them.
  bool add(const PendingJob& pendingJob, const Excess& beyond, Ends& seen);
  // Keeps quota below all limits above the queue, for a gang that has a reservation on nodes.
  void addAll(const PendingJob& pendingJob, const Amounts& demand, const ReservedTime& reserved);

  [[nodiscard]] BackfillVerdict judge(const LimitHold& hold, const PendingJob& pendingJob,
                                      const Amounts& held);
  struct Kept {
    std::shared_ptr<const model::Job> holder;
    Excess beyond = {};
  };
  // The first quota that is kept from a gang which would hold this much.
  [[nodiscard]] std::optional<Kept> keptFrom(const PendingJob& pendingJob, const Amounts& held);

  [[nodiscard]] const LimitHold* find(const model::Job& holder) const;
  [[nodiscard]] const std::vector<LimitHold>& all() const { return holds_; }

 private:
  ScheduleContext& in_;
  std::vector<LimitHold> holds_;
};

}  // namespace trainyard::core
