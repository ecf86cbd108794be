#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/network/shared_link.h"

namespace trainyard::agent {

// Measures the size of each job's bursts and the gaps between them, from samples of its class's counters.
//
// Sizes are measured, not computed from a declared model size. A declared size ignores workers on the
// server's node and compression, and many jobs declare none. A gap is a time in which nothing is sent and
// nothing is queued, so its length does not depend on the traffic of other jobs.
class BurstMeter {
 public:
  struct Look {
    std::string uid;
    std::uint64_t sentBytes = 0;
    bool waiting = false;
  };

  // Begins a window. Earlier measurements remain until the window ends.
  void begin();
  void look(base::Instant now, const std::vector<Look>& jobs);
  // Ends the window. Returns true if every observed job had a whole burst and a whole gap in it.
  bool end();
  [[nodiscard]] std::optional<core::BurstProfile> burstOf(const std::string& uid) const;
  // Drops the measurements of all other jobs.
  void keep(const std::vector<std::string>& uids);

 private:
  struct Track {
    std::uint64_t lastBytes = 0;
    std::uint64_t burstBytes = 0;
    bool active = false;
    bool aligned = false;  // the begin of a burst was seen
    int quiet = 0;         // consecutive looks without traffic
    base::Instant lastActive{};
    std::int64_t bursts = 0;
    std::uint64_t bytes = 0;
    std::int64_t gaps = 0;
    std::int64_t gapMicros = 0;
  };

  static void follow(Track& track, base::Instant now, std::uint64_t delta, bool busy);

  std::map<std::string, Track> window_;
  std::map<std::string, core::BurstProfile> known_;
};

}  // namespace trainyard::agent
