#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "core/ledger/ledger.h"

namespace trainyard::core {

// What shapes could have if no job used anything. It holds until that capacity changes.
class EmptyClusterFits {
 public:
  void follow(const Ledger& ledger) {
    if (ledger.versionWithoutJobs() != version_) clear();
    version_ = ledger.versionWithoutJobs();
  }
  void clear() {
    attainable.clear();
    mayEverStart.clear();
  }

  // The level that each shape could have: tightestAttainable().
  std::map<std::uint32_t, std::size_t> attainable = {};
  // Whether a shape can start at all, and with smaller gangs than desired: GangPlacer::mayEverStart().
  std::map<std::pair<std::uint32_t, bool>, bool> mayEverStart = {};

 private:
  std::uint64_t version_ = 0;
};

}  // namespace trainyard::core
