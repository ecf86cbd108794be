#include "agent/burst_meter.h"

#include <algorithm>
#include <chrono>

namespace trainyard::agent {
namespace {

// A burst ends after this many looks without a byte: a single look may fall between two segments.
constexpr int kQuietLooks = 2;

std::int64_t mean(std::int64_t before, std::int64_t now) { return before + (now - before) / 2; }

}  // namespace

void BurstMeter::begin() { window_.clear(); }

void BurstMeter::look(base::Instant now, const std::vector<Look>& jobs) {
  for (const Look& each : jobs) {
    const auto [at, first] = window_.try_emplace(each.uid);
    Track& track = at->second;
    // A class that was removed and added again restarts its counter at 0.
    const std::uint64_t delta =
        first || each.sentBytes < track.lastBytes ? 0 : each.sentBytes - track.lastBytes;
    track.lastBytes = each.sentBytes;
    if (first) {
      // The size of a burst that began before the window is unknown: it is not counted.
      track.active = true;
      track.lastActive = now;
      continue;
    }
    follow(track, now, delta, delta > 0 || each.waiting);
  }
}

void BurstMeter::follow(Track& track, base::Instant now, std::uint64_t delta, bool busy) {
  if (busy) {
    if (!track.active) {
      if (track.aligned) {
        ++track.gaps;
        track.gapMicros += (now - track.lastActive).count();
      }
      track.active = true;
      track.aligned = true;
      track.burstBytes = 0;
    }
    track.burstBytes += delta;
    track.lastActive = now;
    track.quiet = 0;
    return;
  }
  if (!track.active || ++track.quiet < kQuietLooks) return;
  track.active = false;
  track.quiet = 0;
  if (!track.aligned) return;
  ++track.bursts;
  track.bytes += track.burstBytes;
}

bool BurstMeter::end() {
  bool whole = true;
  for (const auto& [uid, track] : window_) {
    if (track.bursts == 0 || track.gaps == 0) {
      whole = false;
      continue;
    }
    core::BurstProfile seen{static_cast<std::int64_t>(track.bytes) / track.bursts,
                            std::chrono::microseconds(track.gapMicros / track.gaps)};
    const auto [at, first] = known_.try_emplace(uid, seen);
    if (first) continue;
    at->second.bytes = mean(at->second.bytes, seen.bytes);
    at->second.gap = std::chrono::microseconds(mean(at->second.gap.count(), seen.gap.count()));
  }
  window_.clear();
  return whole;
}

std::optional<core::BurstProfile> BurstMeter::burstOf(const std::string& uid) const {
  const auto at = known_.find(uid);
  return at == known_.end() ? std::nullopt : std::optional(at->second);
}

void BurstMeter::keep(const std::vector<std::string>& uids) {
  std::erase_if(known_, [&](const auto& each) {
    return std::find(uids.begin(), uids.end(), each.first) == uids.end();
  });
}

}  // namespace trainyard::agent
