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

// What `trainyard simulate --console` sends: jobs that nobody has created, each as the API server's admission
// made it in a dry run by whoever asks, with a pod of each role:
//   {"items":[{"job":TrainingJob,"pods":{ROLE:Pod},"templateError":TEXT}]}
// Nothing of it is believed but what it asks for: whoever sends other jobs than admission made is told of
// those.
struct TriedJob {
  std::string job = {};                          // JSON
  std::map<std::string, std::string> pods = {};  // by role; a role without one is taken as written
  std::string templateError = {};                // what the API server said of the templates
};

inline constexpr std::size_t kMostTriedJobs = 16;
inline constexpr std::size_t kMostTriedBytes = std::size_t{2} << 20;

[[nodiscard]] std::string writeTriedJobs(const std::vector<TriedJob>& jobs);

// The namespaces of the jobs; kInvalid says where the text is none of these.
[[nodiscard]] base::Result<Names> namespacesOf(std::string_view json);

// The jobs as of nobody: what a job has only once it exists (status, uid, finalizers) is left out, and they
// are created at `input.snapshot.now`, one after the other. Their feedback goes into `input`. kInvalid names
// the item and its field, kAlreadyExists one whose name a job of the snapshot has.
[[nodiscard]] base::Result<std::vector<std::shared_ptr<const model::Job>>> readTriedJobs(
    std::string_view json, core::CycleInput& input);

}  // namespace trainyard::operator_::console
