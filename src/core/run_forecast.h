#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/end_rate.h"
#include "model/snapshot.h"

namespace trainyard::core {

// How likely jobs of a cluster are to end soon, by what others of their kind took (core/end_rate.h). Assumes
// that who knows three ended runs of the narrow kind need not look at the wide one. What runs at the moment
// counts too: a kind is not short because its long ones have not ended yet.
class RunForecast {
 public:
  // `snapshot` outlives this. Costs nothing where the policy's order does not ask.
  explicit RunForecast(const model::Snapshot& snapshot);

  // Chance of ending per second of running, as endRate(). Jobs of a kind that were submitted in the same ten
  // minutes count as submitted together, so that thousands of them are one question.
  [[nodiscard]] double rate(const model::Job& job);

 private:
  struct Running {
    base::WallTime submitted{};
    std::chrono::seconds ran{0};
    const model::Job* job = nullptr;
  };
  [[nodiscard]] double compute(const std::string& kind, base::WallTime submitted, double ran,
                               const model::Job& self) const;

  const model::Snapshot& snapshot_;
  std::map<std::string, std::vector<Running>> running_;  // by kind, sorted by submission
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, double> waiting_;
};

}  // namespace trainyard::core
