#pragma once

#include <map>
#include <string>

#include "model/snapshot.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Metrics of changes of gangs (proposals): how many there are by kind, how long each phase takes, and when
// the oldest one began. The record has no start time of a change: its age counts from when this process first
// saw it.
class ProposalMetrics {
 public:
  explicit ProposalMetrics(telemetry::MetricsRegistry& registry);

  void describe(const model::Snapshot& snapshot);
  // Records a status write.
  void note(const model::Job& before, const model::JobStatus& after, base::WallTime now);

 private:
  // A proposal that is under way, as this process has seen it.
  struct Underway {
    std::string id;
    model::ProposalPhase phase{};
    base::WallTime began{};
    base::WallTime inPhase{};
  };

  void noteAbort(const model::JobStatus& before, const model::JobStatus& after);
  void notePhase(const model::Job& before, const model::JobStatus& after, base::WallTime now);

  telemetry::MetricsRegistry& registry_;
  telemetry::Gauge oldest_;
  telemetry::Counter aborts_;
  std::map<std::string, Underway, std::less<>> underway_;  // by the job's uid
};

}  // namespace trainyard::operator_
