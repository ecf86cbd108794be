#include "core/order/orderings/orderings.h"

namespace trainyard::core::orderings {

// All jobs have equal expected work, so the earlier submission goes first.
Measure fifo(const OrderView& job, const OrderSettings& /*settings*/) {
  return {.expected = 0, .perSecond = gpusOf(job)};
}

}  // namespace trainyard::core::orderings
