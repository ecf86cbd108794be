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

// How wide a job may be placed while it is pending: one level wider at a time, never wider than
// spec.locality.required, even if spec.locality.levels names wider ones.
//
// A job that lists levels waits at each of them for the time that it gives. Without a time it waits for the
// policy's: base + perGpu × its GPUs, or a share of its estimated duration if that is longer, at most `cap`.
// After the last of them any placement inside the required level is accepted. It also waits at a level where
// it could not fit even into an empty cluster: the spec is followed as written.
//
// A job that lists none takes the closest placement there is, and waits only if that can pay:
//  - It begins at the tightest level that could hold it if all jobs were gone
//    (tightestAttainable()). On an idle cluster it starts at once, and also
//    if no closer placement can ever become free.
//  - A gang that one node could hold is small, and a gang without GPUs does not need a
//    fast network: any placement is accepted at once.
//  - Others wait for perGpu × GPUs, or the share of their estimated duration if that is longer, in
//    total, divided evenly between the remaining levels. The total is at most kSpreadCostPermille of
//    the estimate, because a wider placement would cost less than that wait, and at most `cap`. No
//    other job ends in less than kMinHoldOut: such a job does not wait either. Levels that have the
//    same domains count as one, at the time of the first.
//    (Rejected: `base` for these jobs, too. A stated wish pays for it; without one, a minute at each of four
//    levels holds back gangs that run for seconds.)

// ResNet-50 on two servers instead of one: 98.0 of 114.8 images a second ("Analysis of Large-Scale
// Multi-Tenant GPU Clusters for DNN Training Workloads", ATC 2019, table 4).
inline constexpr int kSpreadCostPermille = 150;
inline constexpr std::chrono::milliseconds kMinHoldOut{30'000};

struct RelaxationStep {
  std::chrono::milliseconds after{0};  // from the start of waiting
  std::size_t widest = 0;              // index into Domains::levels(): the widest level accepted from then on
};

struct RelaxationInput {
  const model::Locality* locality = nullptr;
  std::int64_t gpus = 0;  // of the whole gang
  std::optional<std::chrono::seconds> estimatedDuration = std::nullopt;
  // The result of tightestAttainable(); read only if the job lists no levels.
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

// A negative wait counts as zero. Requires at least one step.
[[nodiscard]] Relaxation relaxationAt(const std::vector<RelaxationStep>& steps,
                                      std::chrono::milliseconds waited);

// The tightest level, not wider than the required one, at which the request would fit if every TrainingJob
// were gone; foreign pods stay, and closed nodes stay closed. The required level (without one the whole
// cluster, 0) if it fits nowhere. Costs about as much as place().
[[nodiscard]] std::size_t tightestAttainable(const PlaceRequest& request, const Ledger& ledger,
                                             const Domains& domains);

}  // namespace trainyard::core
