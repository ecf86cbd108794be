#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/environment.h"
#include "model/job.h"

namespace trainyard::core {

// The environment of a member's containers: TRAINYARD_* for every framework, and the variables that the
// framework reads at its start (docs/frameworks.md). The size is that of the record (model/gang_size.h).
//
// A text that names all members is built once. If every member needs it, it is a file of the job, not a text
// in each pod: a gang of thousands would repeat millions of names.
class MemberEnvironments {
 public:
  // `job` must outlive this.
  explicit MemberEnvironments(const model::Job& job);
  [[nodiscard]] model::Environment of(std::string_view role, int index, std::int64_t epoch) const;
  // The environment of each container is at least this long.
  [[nodiscard]] std::size_t sharedBytes() const { return shared_.size(); }

 private:
  const model::Job& job_;
  int groupSize_ = 0;
  std::string coordinator_;  // host of rank 0; empty if no member has a rank
  std::string shared_;       // TensorFlow: the part of `cluster` in TF_CONFIG that all workers see
};

}  // namespace trainyard::core
