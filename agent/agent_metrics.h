#pragma once

#include <string>

#include "telemetry/metrics.h"

namespace trainyard::agent {

// What the agent tells Prometheus. Made once; safe from any thread.
class AgentMetrics {
 public:
  explicit AgentMetrics(telemetry::MetricsRegistry& registry);

  // Of a kernel feature (NET_SCH_HTB, NET_CLS_U32): 1 while ordering is off for want of it.
  void setMissing(const std::string& feature, bool missing);

  telemetry::Gauge jobs;      // whose traffic is to be ordered
  telemetry::Gauge pods;      // of them
  telemetry::Gauge unknown;   // pods whose packets cannot be told from others'
  telemetry::Gauge ordering;  // 1: the kernel orders now
  telemetry::Gauge foreign;   // 1: somebody else's qdisc is on the device
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
