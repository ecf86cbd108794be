#pragma once

#include <optional>

#include "base/time.h"
#include "core/ledger/ledger.h"
#include "model/job.h"
#include "model/pod.h"

namespace trainyard::core {

// When a job that has ended is to be deleted (spec.run.ttlSecondsAfterFinished); absent: never.
[[nodiscard]] std::optional<base::WallTime> timeToGo(const model::Job& job);

// Whether the pod of a job that has ended is deleted (spec.run.cleanPodPolicy). A job that has ended cannot
// be preempted: no pod of it keeps capacity of a node with GPUs.
[[nodiscard]] bool cleansUp(const model::Job& job, const model::Pod& pod, const Ledger& ledger);

}  // namespace trainyard::core
