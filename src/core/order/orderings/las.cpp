#include "core/order/orderings/orderings.h"

namespace trainyard::core::orderings {

// Least attained service: the GPU seconds used so far, in steps. A job that has run long is expected to run
// long. (Discretised two-dimensional queues: Gu et al., "Tiresias: A GPU Cluster Manager for Distributed Deep
// Learning", NSDI 2019, section 3.2.)
Measure las(const OrderView& job, const OrderSettings& settings) {
  const double service = seconds(job.ran) * gpusOf(job);
  Measure measure{.expected = 0, .perSecond = gpusOf(job)};
  for (const std::int64_t limit : settings.lasLimits) {
    if (service >= static_cast<double>(limit)) measure.expected = static_cast<double>(limit);
  }
  return measure;
}

}  // namespace trainyard::core::orderings
