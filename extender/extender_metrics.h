#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/guard/guard.h"
#include "telemetry/metrics.h"

namespace trainyard::extender {

enum class Verb { kFilter, kPrioritize, kPreempt };
inline constexpr std::size_t kVerbs = 3;
[[nodiscard]] std::string_view toString(Verb verb);

enum class Outcome {
  kOk,
  kRefused,     // filter: no node accepted; preempt: no candidate left
  kBadRequest,  // not what kube-scheduler sends
  kTryAgain,    // the gang is not in the view yet
  kNotReady,    // caches not read yet
};
inline constexpr std::size_t kOutcomes = 5;
[[nodiscard]] std::string_view toString(Outcome outcome);

// Metrics that the extender exports to Prometheus. Created once; safe from any thread.
class ExtenderMetrics {
 public:
  explicit ExtenderMetrics(telemetry::MetricsRegistry& registry);

  void noteRequest(Verb verb, Outcome outcome, double seconds);
  // Nodes refused, by reason.
  void noteRefusals(const std::array<std::size_t, core::kGuardReasons>& refusedBy);

  telemetry::Gauge holds;
  telemetry::Gauge viewAge;
  telemetry::Histogram viewBuild;
  telemetry::Counter undecodable;
  struct Resource {
    telemetry::Gauge objects;
    telemetry::Gauge silence;
  };
  Resource nodes;
  Resource pods;
  Resource jobs;
  Resource gangs;

 private:
  std::array<std::array<telemetry::Counter, kOutcomes>, kVerbs> requests_;
  std::array<telemetry::Histogram, kVerbs> seconds_;
  std::array<telemetry::Counter, core::kGuardReasons> refusals_;
};

}  // namespace trainyard::extender
