#include <limits>

#include "core/order/orderings/orderings.h"

namespace trainyard::core::orderings {
namespace {

Measure shortest(const OrderView& job, double perSecond) {
  const double left =
      job.remaining ? seconds(*job.remaining) * perSecond : std::numeric_limits<double>::infinity();
  return {.expected = left, .perSecond = perSecond};
}

}  // namespace

// Remaining time by the owner's estimate; a job without an estimate comes last.
Measure srtf(const OrderView& job, const OrderSettings& /*settings*/) { return shortest(job, 1); }

// Remaining time multiplied by the number of GPUs.
Measure srsf(const OrderView& job, const OrderSettings& /*settings*/) { return shortest(job, gpusOf(job)); }

}  // namespace trainyard::core::orderings
