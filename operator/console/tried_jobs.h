#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/cycle.h"
#include "operator/console/viewer.h"

namespace trainyard::operator_::console {

// What `trainyard simulate --console` sends: jobs that do not exist, each as admitted by the API server in a
// dry-run of the caller, with one pod of each role:
//   {"items":[{"job":TrainingJob,"pods":{ROLE:Pod},"templateError":TEXT}]}
// Only the requests in it count. A caller that sends jobs other than those that admission made gets forecasts
// of those other jobs.
struct TriedJob {
  std::string job = {};                          // JSON
  std::map<std::string, std::string> pods = {};  // by role; a role without a pod counts as written
  std::string templateError = {};                // the API server's error about the templates
};

inline constexpr std::size_t kMaxTriedJobs = 16;
inline constexpr std::size_t kMaxTriedBytes = std::size_t{2} << 20;

[[nodiscard]] std::string writeTriedJobs(const std::vector<TriedJob>& jobs);

// Returns the namespaces of the jobs; kInvalid names the place of the mistake.
[[nodiscard]] base::Result<Names> namespacesOf(std::string_view json);

// Returns the jobs as if created at `input.snapshot.now`, one after the other, without fields that exist only
// in the API (status, uid, finalizers). Puts their feedback into `input`. kInvalid names the item and its
// field; kAlreadyExists names a job that is also in the snapshot.
[[nodiscard]] base::Result<std::vector<std::shared_ptr<const model::Job>>> readTriedJobs(
    std::string_view json, core::CycleInput& input);

}  // namespace trainyard::operator_::console
