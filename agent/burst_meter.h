#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/network/shared_link.h"

namespace trainyard::agent {

// How large the bursts of each job are and how far apart, from looks at its class's counters.
//
// Measured, not computed from a declared model size: that leaves out who shares the node with its server,
// compression, and jobs of which nobody declared anything. A gap is when nothing is sent and nothing waits,
// so it stays the same however long bursts take because of others.
class BurstMeter {
 public:
  struct Look {
    std::string uid;
    std::uint64_t sentBytes = 0;
    bool waiting = false;
  };

  // Begins a window; what was learnt before stays until it is learnt anew.
  void begin();
  void look(base::Instant now, const std::vector<Look>& jobs);
  // Ends the window. Whether every job that was looked at had a whole burst and a whole gap in it.
  bool end();
  [[nodiscard]] std::optional<core::BurstProfile> burstOf(const std::string& uid) const;
  // Drops jobs that are gone.
  void keep(const std::vector<std::string>& uids);

 private:
  struct Track {
    std::uint64_t lastBytes = 0;
    std::uint64_t burstBytes = 0;
    bool active = false;
    bool aligned = false;  // a begin of a burst was seen
    int quiet = 0;         // looks in a row
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
