#pragma once

#include <string>

#include "telemetry/metrics.h"

namespace trainyard::agent {

// The agent's Prometheus metrics. Created once; safe from any thread.
class AgentMetrics {
 public:
  explicit AgentMetrics(telemetry::MetricsRegistry& registry);

  // 1 while nothing is ordered because `feature` is missing: NET_SCH_HTB, NET_CLS_U32, LINK_RATE.
  void setMissing(const std::string& feature, bool missing);

  telemetry::Gauge jobs;      // jobs with ordered traffic
  telemetry::Gauge pods;      // pods of these jobs
  telemetry::Gauge unknown;   // pods with packets that cannot be distinguished
  telemetry::Gauge ordering;  // 1: the kernel orders traffic now
  telemetry::Gauge foreign;   // 1: the device has a qdisc of another program
  telemetry::Gauge rate;
  telemetry::Gauge strict;
  telemetry::Gauge rotate;
  telemetry::Gauge guaranteed;
  telemetry::Gauge silence;
  telemetry::Counter changes;
  telemetry::Counter repairs;
  telemetry::Counter errors;

 private:
  telemetry::MetricsRegistry& registry_;
};

}  // namespace trainyard::agent
