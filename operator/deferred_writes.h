#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "base/executor.h"
#include "model/ids.h"

namespace trainyard::operator_ {

// When status writes that can wait are made.
class DeferredWrites {
 public:
  // For writes that only refresh words or counts: at most one a second for each job and twenty a second over
  // all, so that a thousand waiting jobs cannot crowd out the writes that place gangs. Takes one out of the
  // budget; false: ask again at nextWake().
  bool allow(const model::ObjectKey& job, base::Instant now) {
    roll(now);  // carrying out a plan of thousands of pods takes longer than a window
    const auto last = lastWrite_.find(job);
    const base::Instant free = last == lastWrite_.end() ? now : last->second + kPerJob;
    const base::Instant slot = used_ < kPerWindow ? now : window_ + kWindow;
    if (!due(std::max(free, slot), now)) return false;
    ++used_;
    return true;
  }
  // For news that better news will overtake within moments, so that one write tells both. False for a while
  // from the first call on, and then for as long as others use up the budget: where thousands of pods come up
  // slowly, telling of each twice would slow them further. Ask again at nextWake().
  bool ripe(const model::ObjectKey& job, base::Instant now) {
    return due(held_.try_emplace(job, now).first->second + kHold, now) && allow(job, now);
  }
  // Every write counts for its own job, also those that needed no permission.
  void note(const model::ObjectKey& job, base::Instant now) {
    lastWrite_[job] = now;
    held_.erase(job);
  }
  // A new cycle asks anew.
  void beginCycle(base::Instant now) {
    next_.reset();
    if (!roll(now)) return;
    std::erase_if(lastWrite_, [now](const auto& entry) { return now - entry.second >= kPerJob; });
    std::erase_if(held_, [now](const auto& entry) { return now - entry.second >= kForget; });
  }
  [[nodiscard]] std::optional<base::Instant> nextWake() const { return next_; }

 private:
  bool roll(base::Instant now) {
    if (now - window_ < kWindow) return false;
    window_ = now;
    used_ = 0;
    return true;
  }
  bool due(base::Instant when, base::Instant now) {
    if (when <= now) return true;
    next_ = next_ ? std::min(*next_, when) : when;
    return false;
  }

  static constexpr base::Instant::duration kWindow = std::chrono::seconds(1);
  static constexpr base::Instant::duration kPerJob = std::chrono::seconds(1);
  static constexpr base::Instant::duration kHold = std::chrono::seconds(1);
  static constexpr base::Instant::duration kForget = std::chrono::minutes(1);
  static constexpr int kPerWindow = 20;

  std::map<model::ObjectKey, base::Instant> lastWrite_;
  std::map<model::ObjectKey, base::Instant> held_;  // since when
  base::Instant window_{};
  int used_ = 0;
  std::optional<base::Instant> next_;
};

}  // namespace trainyard::operator_
