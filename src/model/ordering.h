#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::model {

// The order of service of jobs with equal priority in one queue. A new ordering needs its name and row here,
// its measure in src/core/order/orderings/, and what docs/architecture.md lists. The policy file, the chart
// and `trainyard replay` then accept it.
enum class Ordering { kFifo, kLas, kSrtf, kSrsf, kDefault };

struct OrderingTraits {
  Ordering ordering;
  std::string_view name;   // in the policy file
  bool byEstimate;         // orders only by jobs' own estimates
  bool learns;             // without an estimate it uses values learnt from other jobs
  bool allowsTimeSlicing;  // a job ahead may preempt a running one after its time slice
};

inline constexpr std::array kOrderings{
    OrderingTraits{Ordering::kFifo, "fifo", false, false, false},
    OrderingTraits{Ordering::kLas, "las", false, false, true},
    OrderingTraits{Ordering::kSrtf, "srtf", true, false, true},
    OrderingTraits{Ordering::kSrsf, "srsf", true, false, true},
    OrderingTraits{Ordering::kDefault, "default", false, true, true},
};

[[nodiscard]] const OrderingTraits& traitsOf(Ordering ordering);
[[nodiscard]] std::optional<Ordering> orderingNamed(std::string_view name);
// "fifo, las, srtf, srsf or default".
[[nodiscard]] std::string orderingNames();

}  // namespace trainyard::model
