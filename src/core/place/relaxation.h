#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/place/place.h"
#include "model/job.h"
#include "model/policy.h"

namespace trainyard::core {

// How wide a job may be placed while it waits: ever wider, one level at a time, never wider than
// spec.locality.required, even where spec.locality.levels names wider ones.
//
// A job that lists levels holds out for each as long as it says, or as the policy says where it does not:
// base + perGpu × its GPUs, or a share of its estimated duration if that is longer, at most `cap`. After the
// last of them any place inside the required level will do. A wait for a level at which the job could not
// fit even into an empty cluster is waited for as well: what the user wrote is what happens.
//
// A job that lists none takes the closest place there is, and holds out only where waiting can pay:
//  - It begins at the tightest level that could hold it if all jobs were gone (tightestAttainable()); so on
//  an
//    idle cluster, or where better can never come, it starts at once.
//  - What one node could hold is small, and gangs without GPUs have no use for a fast network: any place will
//    do at once.
//  - Others hold out for perGpu × GPUs, or the share of their estimated duration if that is longer, in all,
//    and divide it evenly between the levels that are left; never more than kSpreadCostPermille of the
//    estimate, as a place further apart would cost less than that wait; at most `cap`. Less than
//    kLeastHoldOut is no time in which others end: such a job does not hold out either. Levels whose domains
//    are the same nodes are passed together, when the first of them would be.
//    (Lost: `base` for these jobs, too. It is what a stated wish buys; and without one, a minute at each of
//    four levels holds back gangs that run for seconds.)

// ResNet-50 on two servers instead of one: 98.0 of 114.8 images a second ("Analysis of Large-Scale
// Multi-Tenant GPU Clusters for DNN Training Workloads", ATC 2019, table 4).
inline constexpr int kSpreadCostPermille = 150;
inline constexpr std::chrono::milliseconds kLeastHoldOut{30'000};

struct RelaxationStep {
  std::chrono::milliseconds after{0};  // from the start of waiting
  std::size_t widest = 0;              // index into Domains::levels(): the widest that will do from then on
};

struct RelaxationInput {
  const model::Locality* locality = nullptr;
  std::int64_t gpus = 0;  // of the whole gang
  std::optional<std::chrono::seconds> estimatedDuration = std::nullopt;
  // What tightestAttainable() says; read only where the job lists no levels.
  std::size_t attainable = 0;
};

// The first step is at 0; each later one is later and wider. Levels that the cluster does not have are
// skipped, with their waits: admission refuses them, but the policy may change afterwards.
[[nodiscard]] std::vector<RelaxationStep> relaxationSteps(const RelaxationInput& input,
                                                          const model::RelaxationPolicy& policy,
                                                          const Domains& domains);

struct Relaxation {
  std::size_t widest = 0;                             // may be placed this wide now
  std::optional<RelaxationStep> next = std::nullopt;  // the next wider level, and when
};

// A negative wait is none. Expects at least one step.
[[nodiscard]] Relaxation relaxationAt(const std::vector<RelaxationStep>& steps,
                                      std::chrono::milliseconds waited);

// The tightest level, not wider than the required one, at which the request would fit if every TrainingJob
// were gone: pods of nobody's jobs stay, and closed nodes stay closed. The required level (without one the
// whole cluster, 0) where it fits nowhere. Costs about as much as place().
[[nodiscard]] std::size_t tightestAttainable(const PlaceRequest& request, const Ledger& ledger,
                                             const Domains& domains);

}  // namespace trainyard::core
