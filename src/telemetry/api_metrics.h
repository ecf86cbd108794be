#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// Metrics of a process's API requests. Labels: verbs and HTTP status codes. Single-threaded.
class ApiMetrics {
 public:
  explicit ApiMetrics(MetricsRegistry& registry) : registry_(registry) {}

  // Records one response, or an attempt without a response (`status` 0). A watch is recorded at its end,
  // without a duration: its length does not measure the API server.
  void note(std::string_view verb, int status, double seconds);

 private:
  struct ByVerb {
    Histogram seconds;
    std::map<int, Counter> byCode;
  };

  MetricsRegistry& registry_;
  std::map<std::string, ByVerb, std::less<>> verbs_;
};

}  // namespace trainyard::telemetry
