#pragma once

#include <optional>

#include "base/time.h"
#include "model/job.h"
#include "model/pod.h"

namespace trainyard::core {

// When a job that has ended is to be deleted (spec.run.ttlSecondsAfterFinished); absent: never.
[[nodiscard]] std::optional<base::WallTime> timeToGo(const model::Job& job);

// Whether the pod of a job that has ended is to go (spec.run.cleanPodPolicy). A job that has ended cannot be
// stopped to make room for anybody: no pod of it may go on holding GPUs.
[[nodiscard]] bool cleansUp(const model::Job& job, const model::Pod& pod);

}  // namespace trainyard::core
