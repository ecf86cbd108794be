#include "operator/metrics_refresher.h"

#include <chrono>

namespace trainyard::operator_ {
namespace {

constexpr base::Instant::duration kDelay = std::chrono::milliseconds(250);

}  // namespace

void MetricsRefresher::changed() {
  if (due_) return;
  due_ = true;
  executor_.postAfter(kDelay, [this, alive = alive_] {
    if (!*alive) return;
    due_ = false;
    metrics_.describe(cluster_.snapshot());
    freeGpus_.changed();
  });
}

}  // namespace trainyard::operator_
