#include "telemetry/api_metrics.h"

#include <functional>
#include <vector>

namespace trainyard::telemetry {
namespace {

const std::vector<double> kRequestBounds = {0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30};

}  // namespace

void ApiMetrics::note(std::string_view verb, int status, double seconds) {
  auto found = verbs_.find(verb);
  if (found == verbs_.end()) {
    ByVerb fresh;
    if (verb != "watch") {
      fresh.seconds = registry_.histogram("trainyard_api_request_duration_seconds",
                                          "Time of a request to the API server, by verb; without watches.",
                                          kRequestBounds, {{"verb", std::string(verb)}});
    }
    found = verbs_.emplace(std::string(verb), std::move(fresh)).first;
  }
  auto& byCode = found->second.byCode;
  auto code = byCode.find(status);
  if (code == byCode.end()) {
    const std::string text = status == 0 ? "none" : std::to_string(status);
    code =
        byCode
            .emplace(status,
                     registry_.counter(
                         "trainyard_api_requests_total",
                         "Requests to the API server, by verb and status code; none if there was no answer.",
                         {{"verb", std::string(verb)}, {"code", text}}))
            .first;
  }
  code->second.increment();
  found->second.seconds.observe(seconds);
}

}  // namespace trainyard::telemetry
