#pragma once

#include <optional>

#include "base/time.h"
#include "core/ledger/ledger.h"
#include "model/job.h"
#include "model/pod.h"

namespace trainyard::core {

// Returns when a finished job is to be deleted (spec.run.ttlSecondsAfterFinished); nothing: never.
[[nodiscard]] std::optional<base::WallTime> deletionDue(const model::Job& job);

// Returns true if the pod of a finished job is to be deleted (spec.run.cleanPodPolicy). A finished job cannot
// be preempted, so none of its pods keeps capacity of a node with GPUs.
[[nodiscard]] bool mustCleanUp(const model::Job& job, const model::Pod& pod, const Ledger& ledger);

}  // namespace trainyard::core
