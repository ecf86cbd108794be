#pragma once

#include <string>
#include <string_view>

#include "kube/paths.h"
#include "model/job.h"

namespace trainyard::kube {

// The path of the object that the job was read from: a TrainingJob, or a Gang.
[[nodiscard]] inline std::string jobPath(const model::Job& job, std::string_view subresource = {}) {
  const ResourceType& type = job.owner == nullptr ? kTrainingJobs : kGangs;
  return type.object(job.key.ns, job.key.name, subresource);
}

}  // namespace trainyard::kube
