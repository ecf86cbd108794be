#pragma once

#include "core/cycle/job_decisions.h"
#include "core/schedule/schedule.h"

namespace trainyard::core {

// What pending jobs report.
class PendingReport {
 public:
  PendingReport(CycleContext& context, JobDecisions& decisions) : in_(context), decisions_(decisions) {}

  void report(const GangWait& wait);

 private:
  void explain(const GangWait& wait, Urgency defaultUrgency = Urgency::kNow);
  [[nodiscard]] bool isReported(const GangWait& wait) const;
  void explainStarting(const GangWait& wait);
  bool timedOut(const GangWait& wait);

  CycleContext& in_;
  JobDecisions& decisions_;
};

}  // namespace trainyard::core
