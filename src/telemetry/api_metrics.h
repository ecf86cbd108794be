#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// What a process asks of the API server. Labels: verbs, and HTTP's status codes. From one thread.
class ApiMetrics {
 public:
  explicit ApiMetrics(MetricsRegistry& registry) : registry_(registry) {}

  // One answer, or what came of an attempt without any (`status` 0). A watch is noted when it ends, without a
  // time: it lasts as long as it is wanted.
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
