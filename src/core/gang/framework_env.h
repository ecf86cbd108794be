#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/job.h"

namespace trainyard::core {

using Environment = std::vector<std::pair<std::string, std::string>>;

// The member's place in the process group, which the framework is told as its rank. Roles in this order:
// master, chief, worker, then the others as written; rank 0 is thus master 0, else chief 0, else worker 0.
// Parameter servers, schedulers, servers, launchers and evaluators are not part of it: nullopt.
[[nodiscard]] std::optional<int> memberRank(const model::Job& job, std::string_view role, int index);

// What a member's containers are told: TRAINYARD_* in every framework, and what the framework reads at its
// start. As large as the gang is by its record (model/gang_size.h).
//
// PyTorch: MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK count pods, for programs that run one process a pod;
// PET_* are torchrun's own flags, with one process for each GPU, and torchrun then sets the former anew for
// each of them. TensorFlow: TF_CONFIG.
//
// What names all members is made once: for each of them anew, a gang of thousands would be millions of names.
class MemberEnvironments {
 public:
  // `job` must outlive this.
  explicit MemberEnvironments(const model::Job& job);
  [[nodiscard]] Environment of(std::string_view role, int index, std::int64_t epoch) const;
  // What each container is told is at least as long.
  [[nodiscard]] std::size_t sharedBytes() const { return cluster_.size(); }

 private:
  const model::Job& job_;
  std::string cluster_;  // of TF_CONFIG
};

}  // namespace trainyard::core
