#pragma once

#include <map>
#include <string>
#include <string_view>

#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Counts requests to the API server: writes by resource, and reads of the logs of running jobs.
class RequestMetrics {
 public:
  explicit RequestMetrics(telemetry::MetricsRegistry& registry);

  void countWrite(std::string_view resource);
  void countLogRead(bool answered);
  // A read of a log found a progress report.
  void countReport() { progressReports_.increment(); }

 private:
  telemetry::MetricsRegistry& registry_;
  std::map<std::string, telemetry::Counter, std::less<>> writes_;  // by resource
  telemetry::Counter logReads_;
  telemetry::Counter logReadErrors_;
  telemetry::Counter progressReports_;
};

}  // namespace trainyard::operator_
