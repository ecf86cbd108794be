#include "telemetry/process_metrics.h"

#include <string>

#include <catch2/catch.hpp>

#include "telemetry/api_metrics.h"

namespace trainyard::telemetry::test {
namespace {

double valueOf(const MetricsRegistry& registry, const std::string& name) {
  const std::string text = registry.text();
  const auto at = text.find("\n" + name + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + name.size() + 2));
}

TEST_CASE("A process exports its present resource use") {
  MetricsRegistry registry;
  addProcessMetrics(registry);
  CHECK(valueOf(registry, "process_resident_memory_bytes") > 1e6);
  CHECK(valueOf(registry, "process_virtual_memory_bytes") > 1e6);
  CHECK(valueOf(registry, "process_open_fds") >= 3);
  CHECK(valueOf(registry, "process_max_fds") >= 3);
  CHECK(valueOf(registry, "process_threads") >= 1);
  // Started after 2020, and the present clock is later.
  CHECK(valueOf(registry, "process_start_time_seconds") > 1.577e9);
  const double before = valueOf(registry, "process_cpu_seconds_total");
  volatile double work = 1;
  double after = before;
  while (after <= before) {
    for (int i = 0; i < 1'000'000; ++i) work = work * 1.0000001;
    after = valueOf(registry, "process_cpu_seconds_total");
  }
  CHECK(after > before);
}

TEST_CASE("Requests to the API server are counted by verb and code") {
  MetricsRegistry registry;
  ApiMetrics metrics(registry);
  metrics.note("get", 200, 0.003);
  metrics.note("get", 404, 0.001);
  metrics.note("patch", 0, 30);
  metrics.note("watch", 200, 0);
  const std::string text = registry.text();
  CHECK_THAT(text, Catch::Contains("trainyard_api_requests_total{code=\"404\",verb=\"get\"} 1\n"));
  CHECK_THAT(text, Catch::Contains("trainyard_api_requests_total{code=\"none\",verb=\"patch\"} 1\n"));
  CHECK_THAT(text, Catch::Contains("trainyard_api_requests_total{code=\"200\",verb=\"watch\"} 1\n"));
  CHECK_THAT(text, Catch::Contains("trainyard_api_request_duration_seconds_count{verb=\"get\"} 2\n"));
  CHECK_THAT(text, !Catch::Contains("_count{verb=\"watch\"}"));
}

TEST_CASE("Removed series are not exported and free their capacity") {
  MetricsRegistry registry;
  const Gauge gauge = registry.gauge("g", "G.", {{"x", "1"}});
  const Histogram histogram = registry.histogram("h_seconds", "H.", {1}, {{"x", "1"}});
  registry.remove("g", {{"x", "1"}}, gauge);
  registry.remove("h_seconds", {{"x", "1"}}, histogram);
  registry.remove("g", {{"x", "unknown"}}, Gauge());
  CHECK_THAT(registry.text(), !Catch::Contains("x=\"1\""));
  registry.gauge("g", "G.", {{"x", "1"}}).set(7);
  CHECK_THAT(registry.text(), Catch::Contains("g{x=\"1\"} 7\n") && Catch::Contains("# HELP g G.\n"));
}

}  // namespace
}  // namespace trainyard::telemetry::test
