#include <algorithm>
#include <cmath>

#include "core/order/orderings/orderings.h"

namespace trainyard::core::orderings {
namespace {

// Large jobs block the cluster less than their number of GPUs suggests: they use whole nodes, while small
// ones leave fragments.
constexpr double kGpuExponent = 0.85;

}  // namespace

// Remaining GPU time, if there is an estimate; else GPU seconds per expected end, by the chance of ending
// learnt from other jobs (Gittins' index, weighted by the scarce resource).
Measure byDefault(const OrderView& job, const OrderSettings& /*settings*/) {
  if (job.remaining) {
    const double weight = std::pow(gpusOf(job), kGpuExponent);
    return {.expected = seconds(*job.remaining) * weight, .perSecond = weight};
  }
  const double rate = job.gittinsIndex.value_or(1 / std::max(seconds(job.ran), seconds(kYoung)));
  return {.expected = gpusOf(job) / rate, .perSecond = gpusOf(job)};
}

}  // namespace trainyard::core::orderings
