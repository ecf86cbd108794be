#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/job.h"
#include "model/kueue.h"

namespace trainyard::codec {

// Reads a Workload of Kueue (v1beta2). kInvalid if a field has another type than Kueue's schema says.
[[nodiscard]] base::Result<model::KueueWorkload> decodeKueueWorkload(std::string_view json);

// The priority of a Workload, and the class that it is copied from.
struct KueuePriority {
  std::string_view group;  // of the class: scheduling.k8s.io or kueue.x-k8s.io
  std::string_view kind;
  std::string name;
  int value = 0;
};

// The body of the Workload of a job: a podSet for each role, without what quota does not depend on.
// kInvalid if a template is not JSON.
[[nodiscard]] base::Result<std::string> encodeKueueWorkload(const model::Job& job,
                                                            const std::optional<KueuePriority>& priority);

// The merge patch that makes the job the controller of a Workload that MultiKueue has created.
[[nodiscard]] std::string encodeKueueOwner(const model::KueueWorkload& workload, const model::Job& job);

// The merge patch of the status: these conditions in place of all, and, if it gives the quota back, no
// admission. kConflict if the Workload has changed.
[[nodiscard]] std::string encodeKueueStatus(const model::KueueWorkload& workload,
                                            const std::vector<model::Condition>& conditions,
                                            bool givesQuotaBack);

}  // namespace trainyard::codec
