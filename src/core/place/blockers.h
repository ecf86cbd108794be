#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ledger/ledger.h"
#include "model/ids.h"

namespace trainyard::core {

// The jobs and pods that hold what a gang lacks, where it came closest to fitting.
struct Blockers {
  struct Holder {
    model::ObjectKey key;
    model::Uid uid;
    std::int64_t amount = 0;  // of the scarce resource
    std::int64_t gpus = 0;
    std::int64_t nodes = 0;
  };
  std::vector<Holder> jobs = {};  // the largest first, at most kNamedBlockers
  std::int64_t moreJobs = 0;      // in addition to them
  std::int64_t pods = 0;          // foreign pods; DaemonSets' pods count as part of the node
  std::int64_t podNodes = 0;
  model::ObjectKey firstPod = {};
};
inline constexpr std::size_t kNamedBlockers = 3;

// `nodes`: indices into Ledger::nodes(); what `asking` holds does not count. Ties: namespace and name.
[[nodiscard]] Blockers findBlockers(const std::vector<std::uint32_t>& nodes, const std::string& scarce,
                                    const model::ObjectKey& asking, const Ledger& ledger);

}  // namespace trainyard::core
