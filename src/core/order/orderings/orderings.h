#pragma once

#include "core/order/order_policy.h"

// Each ordering in a file of its own; rankOf() asks the one that the policy names.
namespace trainyard::core::orderings {

struct Measure {
  // What is expected to be left of the job: less is served first, infinite last.
  double expected = 0;
  // What one second of all its GPUs counts in that measure: so much does a second of a stop cost.
  double perSecond = 1;
};

[[nodiscard]] Measure fifo(const OrderView& job, const OrderSettings& settings);
[[nodiscard]] Measure las(const OrderView& job, const OrderSettings& settings);
[[nodiscard]] Measure srtf(const OrderView& job, const OrderSettings& settings);
[[nodiscard]] Measure srsf(const OrderView& job, const OrderSettings& settings);
[[nodiscard]] Measure byDefault(const OrderView& job, const OrderSettings& settings);

// At least one: what asks for none is not free.
[[nodiscard]] double gpusOf(const OrderView& job);
[[nodiscard]] double seconds(std::chrono::microseconds time);

}  // namespace trainyard::core::orderings
