#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/place/fragmentation.h"
#include "core/place/problem.h"

namespace trainyard::core {

// Ranks nodes that are otherwise equal for a gang. Part of place(); not for use elsewhere.
class NodePreference {
 public:
  explicit NodePreference(const PlaceProblem& problem) : problem_(&problem) {}

  // How many more of the node's free GPUs the job mix could not use once `count` members of the kind are
  // there; 0 without a mix. Assumes that the whole mix may use any node.
  [[nodiscard]] std::int64_t growth(const PlaceProblem::Kind& kind, std::int64_t count, std::size_t position);
  // As above, for the whole gang.
  [[nodiscard]] std::int64_t growthByAll(std::size_t position);
  // Whether members of another multi-node gang are on the node already: both would share its network card.
  [[nodiscard]] bool sharesNetwork(std::size_t position);
  // Whether another job's parameter servers are there, or come in this cycle: their bursts would collide.
  [[nodiscard]] bool hostsServers(std::size_t position);

 private:
  // A cache: few different amounts occur on many nodes.
  struct Known {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t gpus = -1;
    std::int64_t fragmentation = 0;
  };

  [[nodiscard]] std::int64_t growth(const TaskShape& taken, std::size_t position);
  [[nodiscard]] std::int64_t fragmentationOf(std::int64_t cpu, std::int64_t memory, std::int64_t gpus);

  const PlaceProblem* problem_;
  std::array<Known, 256> known_ = {};
  enum class Asked : char { kNotYet, kNo, kYes };
  std::vector<Asked> shares_;  // by position
  std::vector<Asked> servers_;
};

}  // namespace trainyard::core
