#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/snapshot.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Metrics of each queue: what it holds and deserves, its jobs, and how long they are pending. The series of
// deleted queues are removed.
class QueueMetrics {
 public:
  explicit QueueMetrics(telemetry::MetricsRegistry& registry) : registry_(registry) {}

  void describe(const model::Snapshot& snapshot);
  // A job of the queue was placed after it was pending for `seconds`.
  void observeWait(const std::string& queue, double seconds);

 private:
  using GaugesByQueue = std::map<std::string, telemetry::Gauge, std::less<>>;

  void forgetWaits(const model::Snapshot& snapshot);
  void publishQueues(GaugesByQueue& gauges, const std::map<std::string, double>& values,
                     std::string_view name, std::string_view help);

  telemetry::MetricsRegistry& registry_;
  GaugesByQueue gpus_;
  GaugesByQueue share_;
  GaugesByQueue fairShare_;
  GaugesByQueue waiting_;
  GaugesByQueue placed_;
  GaugesByQueue deficit_;
  GaugesByQueue oldest_;
  std::map<std::string, telemetry::Histogram, std::less<>> waits_;
};

}  // namespace trainyard::operator_
