#pragma once

#include "core/order/order_policy.h"

// Each ordering has its own file; queuePositionOf() calls the one that the policy names.
namespace trainyard::core::orderings {

struct Measure {
  // Expected remaining work of the job: less is served first, infinite last.
  double expected = 0;
  // One second of all its GPUs in the same measure; the cost of a stop is multiplied by it.
  double perSecond = 1;
};

[[nodiscard]] Measure fifo(const OrderView& job, const OrderSettings& settings);
[[nodiscard]] Measure las(const OrderView& job, const OrderSettings& settings);
[[nodiscard]] Measure srtf(const OrderView& job, const OrderSettings& settings);
[[nodiscard]] Measure srsf(const OrderView& job, const OrderSettings& settings);
[[nodiscard]] Measure byDefault(const OrderView& job, const OrderSettings& settings);

// At least one: a job without GPUs still has a cost.
[[nodiscard]] double gpusOf(const OrderView& job);
[[nodiscard]] double seconds(std::chrono::microseconds time);

}  // namespace trainyard::core::orderings
