#include "operator/metrics/request_metrics.h"

namespace trainyard::operator_ {

RequestMetrics::RequestMetrics(telemetry::MetricsRegistry& registry)
    : registry_(registry),
      logReads_(registry.counter("trainyard_progress_reads_total",
                                 "Logs of running jobs that were read for progress reports.")),
      logReadErrors_(registry.counter("trainyard_progress_read_errors_total",
                                      "Logs of running jobs that could not be read.")),
      progressReports_(registry.counter("trainyard_progress_reports_total",
                                        "Reads of logs that found a new progress report.")) {}

void RequestMetrics::countWrite(std::string_view resource) {
  auto found = writes_.find(resource);
  if (found == writes_.end()) {
    found = writes_
                .emplace(std::string(resource),
                         registry_.counter("trainyard_api_writes_total", "Write requests to the API server.",
                                           {{"resource", std::string(resource)}}))
                .first;
  }
  found->second.increment();
}

void RequestMetrics::countLogRead(bool answered) {
  logReads_.increment();
  if (!answered) logReadErrors_.increment();
}

}  // namespace trainyard::operator_
