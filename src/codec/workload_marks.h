#pragma once

#include <string>
#include <vector>

#include "codec/workload_roles.h"
#include "model/workload.h"

namespace trainyard::codec {

// The JSON patch that marks the pod templates of a workload, so that their pods arrive gated: with the labels
// of gang and role, or, if its pods are no gang, of the queue, and with the gate for places. In the latter
// case it starts the workload, too. Nothing is changed unless the object is still this one. Empty if
// everything is marked.
[[nodiscard]] std::string encodeTemplateMarks(const model::Workload& workload, const Field& root, bool isGang,
                                              const std::vector<WorkloadRole>& roles);

// The same for a TrainJob, whose controller applies patches of its runtime to the JobSet that it makes.
// `roles`: of that JobSet.
[[nodiscard]] bool hasRuntimePatch(const Field& trainJob);
[[nodiscard]] std::string encodeRuntimePatch(const model::Workload& workload, const Field& trainJob,
                                             const std::vector<WorkloadRole>& roles);

}  // namespace trainyard::codec
