#pragma once

#include <optional>
#include <string>

#include "core/network/bands.h"
#include "telemetry/metrics.h"

namespace trainyard::agent {

// How the kernel applies the order of jobs.
class DisciplineMetrics {
 public:
  explicit DisciplineMetrics(telemetry::MetricsRegistry& registry);

  // nullopt: nothing is ordered.
  void set(std::optional<core::Discipline> discipline);

 private:
  telemetry::Gauge strict_;
  telemetry::Gauge rotate_;
  telemetry::Gauge guaranteed_;
};

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
  DisciplineMetrics discipline;
  telemetry::Gauge silence;
  telemetry::Counter changes;
  telemetry::Counter repairs;
  telemetry::Counter errors;

 private:
  telemetry::MetricsRegistry& registry_;
};

}  // namespace trainyard::agent
