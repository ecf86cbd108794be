#include <catch2/catch.hpp>

#include <thread>

#include "telemetry/metrics.h"

namespace trainyard::telemetry::test {
namespace {

TEST_CASE("Metrics appear in the text format with help and type and labels") {
  MetricsRegistry registry;
  registry.counter("writes_total", "Writes.", {{"resource", "pods"}}).increment(3);
  registry.gauge("leader", "Whether this process leads.").set(1);
  const Histogram seconds = registry.histogram("cycle_seconds", "Cycles.", {0.1, 1});
  seconds.observe(0.05);
  seconds.observe(0.5);
  seconds.observe(5);
  registry.setBuildInfo("1.2.3");
  const std::string text = registry.text();
  CHECK_THAT(text, Catch::Contains("# HELP writes_total Writes.\n# TYPE writes_total counter\n"));
  CHECK_THAT(text, Catch::Contains("writes_total{resource=\"pods\"} 3\n"));
  CHECK_THAT(text, Catch::Contains("# TYPE leader gauge\nleader 1\n"));
  CHECK_THAT(text, Catch::Contains("cycle_seconds_bucket{le=\"0.1\"} 1\n"));
  CHECK_THAT(text, Catch::Contains("cycle_seconds_bucket{le=\"1\"} 2\n"));
  CHECK_THAT(text, Catch::Contains("cycle_seconds_bucket{le=\"+Inf\"} 3\n"));
  CHECK_THAT(text, Catch::Contains("cycle_seconds_count 3\n"));
  CHECK_THAT(text, Catch::Contains("trainyard_build_info{version=\"1.2.3\"} 1\n"));
  CHECK_THAT(text, Catch::Contains("trainyard_dropped_series_total 0\n"));
}

TEST_CASE("The same name and labels are the same metric") {
  MetricsRegistry registry;
  registry.counter("a_total", "A.", {{"x", "1"}}).increment();
  registry.counter("a_total", "A.", {{"x", "1"}}).increment();
  registry.counter("a_total", "A.", {{"x", "2"}}).increment();
  CHECK_THAT(registry.text(),
             Catch::Contains("a_total{x=\"1\"} 2\n") && Catch::Contains("a_total{x=\"2\"} 1\n"));
}

TEST_CASE("Label values are escaped") {
  MetricsRegistry registry;
  registry.gauge("g", "G.", {{"x", "a\"b\\c\nd"}}).set(1);
  CHECK_THAT(registry.text(), Catch::Contains("g{x=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST_CASE("Too many label sets are dropped and counted and the old ones continue") {
  MetricsRegistry registry;
  const Counter first = registry.counter("many_total", "Many.", {{"i", "0"}});
  for (std::size_t i = 0; i < MetricsRegistry::kMaxSeries + 10; ++i) {
    registry.counter("many_total", "Many.", {{"i", std::to_string(i)}}).increment();
  }
  first.increment();
  const std::string text = registry.text();
  CHECK_THAT(text,
             Catch::Contains("many_total{i=\"0\"} 2\n") && Catch::Contains("many_total{i=\"499\"} 1\n"));
  CHECK_THAT(text, !Catch::Contains("many_total{i=\"500\"}"));
  CHECK_THAT(text, Catch::Contains("trainyard_dropped_series_total 10\n"));
}

TEST_CASE("Names that cannot be metrics are dropped and counted") {
  MetricsRegistry registry;
  registry.counter("no-dashes", "Bad.").increment();
  registry.counter("fine_total", "Fine.").increment();
  registry.gauge("fine_total", "Another type.").set(7);
  registry.gauge("labels", "Bad label.", {{"no-dashes", "1"}}).set(7);
  const std::string text = registry.text();
  CHECK_THAT(text, !Catch::Contains("no-dashes"));
  CHECK_THAT(text, Catch::Contains("fine_total 1\n"));
  CHECK_THAT(text, Catch::Contains("trainyard_dropped_series_total 3\n"));
}

TEST_CASE("Handles without a metric ignore all calls") {
  Counter().increment();
  Gauge().set(1);
  Histogram().observe(1);
}

TEST_CASE("Metrics may be used and read from several threads") {
  MetricsRegistry registry;
  const Counter counter = registry.counter("shared_total", "Shared.");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) {
        counter.increment();
        registry.gauge("per_thread", "Per thread.", {{"t", std::to_string(t)}}).set(i);
        if (i % 250 == 0) static_cast<void>(registry.text());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK_THAT(registry.text(),
             Catch::Contains("shared_total 4000\n") && Catch::Contains("per_thread{t=\"3\"} 999\n"));
}

}  // namespace
}  // namespace trainyard::telemetry::test
