#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/environment.h"
#include "model/job.h"

namespace trainyard::core {

// What a member's containers are told: TRAINYARD_* in every framework, and what the framework reads at its
// start; docs/frameworks.md lists it. As large as the gang is by its record (model/gang_size.h).
//
// What names all members is made once, and where every member is told of all of them, it is a file of the job
// and not a text in each pod: a gang of thousands would be millions of names.
class MemberEnvironments {
 public:
  // `job` must outlive this.
  explicit MemberEnvironments(const model::Job& job);
  [[nodiscard]] model::Environment of(std::string_view role, int index, std::int64_t epoch) const;
  // What each container is told is at least as long.
  [[nodiscard]] std::size_t sharedBytes() const { return shared_.size(); }

 private:
  const model::Job& job_;
  int groupSize_ = 0;
  std::string coordinator_;  // host of rank 0; empty where nobody has a rank
  std::string shared_;       // TensorFlow: of `cluster` in TF_CONFIG, what all workers see
};

}  // namespace trainyard::core
