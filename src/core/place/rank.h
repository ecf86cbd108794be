#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/place/fragmentation.h"
#include "core/place/problem.h"

namespace trainyard::core {

// What tells apart nodes that serve a gang alike. Part of place(); not for use elsewhere.
class PlaceRank {
 public:
  explicit PlaceRank(const PlaceProblem& problem) : problem_(&problem) {}

  // How much more of the node's free GPUs the job mix could not use after `count` members of the kind came to
  // it; 0 without a mix. Taken as if all of the mix might use any node.
  [[nodiscard]] std::int64_t growth(const PlaceProblem::Kind& kind, std::int64_t count, std::size_t position);
  // The same for the whole gang.
  [[nodiscard]] std::int64_t growthByAll(std::size_t position);
  // Members of another gang that spans several nodes are here already: two such would share the network card.
  [[nodiscard]] bool sharesNetwork(std::size_t position);
  // Parameter servers of another job are here already, or come here in this cycle: their bursts would meet.
  [[nodiscard]] bool hostsServers(std::size_t position);

 private:
  // Few different rooms occur, and many nodes.
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
