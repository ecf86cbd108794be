#include "extender/extender_metrics.h"

#include <string>
#include <vector>

namespace trainyard::extender {
namespace {

// kube-scheduler waits for every answer. The interesting range lies between a tenth of a millisecond and its
// timeout.
const std::vector<double> kRequestSeconds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                          0.01,   0.05,    0.25,   1,     2};
const std::vector<double> kBuildSeconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1};

ExtenderMetrics::Resource makeResource(telemetry::MetricsRegistry& registry, std::string_view name) {
  const telemetry::MetricLabels labels{{"resource", std::string(name)}};
  return {registry.gauge("trainyard_extender_cache_objects", "Objects in the cache", labels),
          registry.gauge("trainyard_extender_watch_silence_seconds",
                         "Time since the API server last sent anything on this watch", labels)};
}

}  // namespace

std::string_view toString(Verb verb) {
  switch (verb) {
    case Verb::kFilter: return "filter";
    case Verb::kPrioritize: return "prioritize";
    case Verb::kPreempt: return "preempt";
  }
  return "unknown";
}

std::string_view toString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk: return "ok";
    case Outcome::kRefused: return "refused";
    case Outcome::kBadRequest: return "bad_request";
    case Outcome::kTryAgain: return "try_again";
    case Outcome::kNotReady: return "not_ready";
  }
  return "unknown";
}

ExtenderMetrics::ExtenderMetrics(telemetry::MetricsRegistry& registry)
    : holds(registry.gauge("trainyard_extender_holds",
                           "Pods for which free capacity is held until they are seen bound")),
      viewAge(registry.gauge("trainyard_extender_view_age_seconds",
                             "Time since the view that requests are answered from was built")),
      viewBuild(registry.histogram("trainyard_extender_view_build_seconds",
                                   "Time to make a view from the caches", kBuildSeconds)),
      undecodable(registry.counter("trainyard_extender_undecodable_objects_total",
                                   "Objects of the API server that could not be read")),
      nodes(makeResource(registry, "nodes")),
      pods(makeResource(registry, "pods")),
      jobs(makeResource(registry, "trainingjobs")),
      gangs(makeResource(registry, "gangs")) {
  for (std::size_t v = 0; v < kVerbs; ++v) {
    const std::string verb(toString(static_cast<Verb>(v)));
    seconds_[v] = registry.histogram("trainyard_extender_request_seconds", "Time to answer kube-scheduler",
                                     kRequestSeconds, {{"verb", verb}});
    for (std::size_t o = 0; o < kOutcomes; ++o) {
      const std::string result(toString(static_cast<Outcome>(o)));
      requests_[v][o] = registry.counter("trainyard_extender_requests_total", "Requests of kube-scheduler",
                                         {{"verb", verb}, {"result", result}});
    }
  }
  for (std::size_t r = 0; r < core::kGuardReasons; ++r) {
    const std::string reason(toString(static_cast<core::GuardReason>(r)));
    refusals_[r] =
        registry.counter("trainyard_extender_refusals_total", "Nodes refused to pods", {{"reason", reason}});
  }
}

void ExtenderMetrics::noteRequest(Verb verb, Outcome outcome, double seconds) {
  const auto v = static_cast<std::size_t>(verb);
  requests_[v][static_cast<std::size_t>(outcome)].increment();
  seconds_[v].observe(seconds);
}

void ExtenderMetrics::noteRefusals(const std::array<std::size_t, core::kGuardReasons>& refusedBy) {
  for (std::size_t r = 0; r < refusedBy.size(); ++r) {
    if (refusedBy[r] > 0) refusals_[r].increment(static_cast<double>(refusedBy[r]));
  }
}

}  // namespace trainyard::extender
