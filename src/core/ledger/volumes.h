#pragma once

#include <memory>

#include "model/job.h"
#include "model/volume.h"

namespace trainyard::core {

// The job with what its volumes ask of nodes in the shapes of its roles, and what keeps it waiting, as
// kube-scheduler's VolumeBinding has it: a claim that is bound ties its pods to where its volume can be
// reached; one that binds when a pod has its node ties them to nothing; any other one that is not bound, is
// missing or is being deleted lets no pod run. The job itself where it names no claims.
[[nodiscard]] std::shared_ptr<const model::Job> withVolumes(const std::shared_ptr<const model::Job>& job,
                                                            const model::Volumes& volumes);

}  // namespace trainyard::core
