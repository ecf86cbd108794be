#include "telemetry/metrics.h"

#include <exception>
#include <mutex>
#include <set>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace trainyard::telemetry {

void Counter::increment(double by) const {
  if (metric_ != nullptr) static_cast<prometheus::Counter*>(metric_)->Increment(by);
}

void Gauge::set(double value) const {
  if (metric_ != nullptr) static_cast<prometheus::Gauge*>(metric_)->Set(value);
}

void Histogram::observe(double value) const {
  if (metric_ != nullptr) static_cast<prometheus::Histogram*>(metric_)->Observe(value);
}

class MetricsRegistry::Impl {
 public:
  // Families live as long as the registry; a second request by the same name returns the first family.
  template <typename Builder>
  auto& family(Builder builder, std::string_view name, std::string_view help) {
    return builder.Name(std::string(name)).Help(std::string(help)).Register(registry);
  }

  // Returns the result of `make`; null for a label set beyond the limit and for an illegal name.
  template <typename Make>
  void* find(std::string_view name, const MetricLabels& labels, Make make) {
    if (mayAdd(name, labels)) {
      try {
        return make();
      } catch (const std::exception&) {
        // An illegal name, or the name of a metric of another type.
        dropped.increment();
        return nullptr;
      }
    }
    dropped.increment();
    return nullptr;
  }

  template <typename Builder, typename Metric>
  void remove(Builder builder, std::string_view name, const MetricLabels& labels, void* metric) {
    if (metric == nullptr) return;
    {
      const std::lock_guard lock(mutex_);
      const auto known = series_.find(std::string(name));
      if (known == series_.end() || known->second.erase(labels) == 0) return;
    }
    family(builder, name, "").Remove(static_cast<Metric*>(metric));
  }

  void fill() {
    const std::lock_guard lock(fillMutex_);
    for (const auto& each : fills_) each();
  }
  void addFill(std::function<void()> each) {
    const std::lock_guard lock(fillMutex_);
    fills_.push_back(std::move(each));
  }

  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  Counter dropped;

 private:
  bool mayAdd(std::string_view name, const MetricLabels& labels) {
    const std::lock_guard lock(mutex_);
    auto& known = series_[std::string(name)];
    if (known.contains(labels)) return true;
    if (known.size() >= kMaxSeries) return false;
    known.insert(labels);
    return true;
  }

  std::mutex mutex_;
  std::map<std::string, std::set<MetricLabels>> series_;
  std::mutex fillMutex_;
  std::vector<std::function<void()>> fills_;
};

MetricsRegistry::MetricsRegistry() : impl_(std::make_unique<Impl>()) {
  impl_->dropped = counter("trainyard_dropped_series_total",
                           "Series that were dropped: too many label sets, or an illegal name.");
}

MetricsRegistry::~MetricsRegistry() = default;

Counter MetricsRegistry::counter(std::string_view name, std::string_view help, const MetricLabels& labels) {
  return Counter(impl_->find(
      name, labels, [&] { return &impl_->family(prometheus::BuildCounter(), name, help).Add(labels); }));
}

Gauge MetricsRegistry::gauge(std::string_view name, std::string_view help, const MetricLabels& labels) {
  return Gauge(impl_->find(name, labels,
                           [&] { return &impl_->family(prometheus::BuildGauge(), name, help).Add(labels); }));
}

Histogram MetricsRegistry::histogram(std::string_view name, std::string_view help,
                                     const std::vector<double>& bounds, const MetricLabels& labels) {
  return Histogram(impl_->find(name, labels, [&] {
    return &impl_->family(prometheus::BuildHistogram(), name, help).Add(labels, bounds);
  }));
}

void MetricsRegistry::setBuildInfo(std::string_view version) {
  gauge("trainyard_build_info", "Version of the running program.", {{"version", std::string(version)}})
      .set(1);
}

// An existing family keeps its help text, so this call needs none.
void MetricsRegistry::remove(std::string_view name, const MetricLabels& labels, const Gauge& gauge) {
  impl_->remove<decltype(prometheus::BuildGauge()), prometheus::Gauge>(prometheus::BuildGauge(), name, labels,
                                                                       gauge.metric_);
}

void MetricsRegistry::remove(std::string_view name, const MetricLabels& labels, const Histogram& histogram) {
  impl_->remove<decltype(prometheus::BuildHistogram()), prometheus::Histogram>(
      prometheus::BuildHistogram(), name, labels, histogram.metric_);
}

void MetricsRegistry::beforeText(std::function<void()> fill) { impl_->addFill(std::move(fill)); }

std::string MetricsRegistry::text() const {
  impl_->fill();
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace trainyard::telemetry
