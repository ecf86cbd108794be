#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::telemetry {

using MetricLabels = std::map<std::string, std::string>;

// Handles to metrics of a registry, which must outlive them. Cheap to copy; safe from any thread. Callers
// should keep them: a look-up takes a lock and a map.
class Counter {
 public:
  Counter() = default;
  void increment(double by = 1) const;

 private:
  friend class MetricsRegistry;
  explicit Counter(void* metric) : metric_(metric) {}
  void* metric_ = nullptr;  // of the metrics library; a handle without one ignores all calls
};

class Gauge {
 public:
  Gauge() = default;
  void set(double value) const;

 private:
  friend class MetricsRegistry;
  explicit Gauge(void* metric) : metric_(metric) {}
  void* metric_ = nullptr;
};

class Histogram {
 public:
  Histogram() = default;
  void observe(double value) const;

 private:
  friend class MetricsRegistry;
  explicit Histogram(void* metric) : metric_(metric) {}
  void* metric_ = nullptr;
};

// The metrics of one process. Names are in snake case with base units (_seconds, _total). The same name and
// labels return the same metric. A label set beyond kMaxSeries of its name, an illegal name, or a name of
// another type's metric returns a handle that counts nothing, and increments trainyard_dropped_series_total:
// telemetry must not end the process.
class MetricsRegistry {
 public:
  static constexpr std::size_t kMaxSeries = 500;

  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  [[nodiscard]] Counter counter(std::string_view name, std::string_view help,
                                const MetricLabels& labels = {});
  [[nodiscard]] Gauge gauge(std::string_view name, std::string_view help, const MetricLabels& labels = {});
  // `bounds`: upper bounds of the buckets, ascending.
  [[nodiscard]] Histogram histogram(std::string_view name, std::string_view help,
                                    const std::vector<double>& bounds, const MetricLabels& labels = {});
  // Removes the series and invalidates all copies of its handle. The series of a deleted object would
  // otherwise be exported for ever, and count against kMaxSeries.
  void remove(std::string_view name, const MetricLabels& labels, const Gauge& gauge);
  void remove(std::string_view name, const MetricLabels& labels, const Histogram& histogram);
  // `fill` runs before each text(), on the thread that calls it, never concurrently: for values that are read
  // only then.
  void beforeText(std::function<void()> fill);
  // trainyard_build_info{version="…"} 1, to join with.
  void setBuildInfo(std::string_view version);

  // Text exposition format 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::telemetry
