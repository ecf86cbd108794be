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
    const auto last = lastWrite_.find(job);
    return spare_.take(last == lastWrite_.end() ? now : last->second + kPerJob, now, next_);
  }
  // For news that better news will overtake within moments, so that one write tells both. False for a while
  // from the first call on, and then for as long as others use up a budget: where thousands of pods come up
  // slowly, telling of each twice would slow them further. A budget of its own: it is news of a job once
  // only, and waiting jobs' words, which change all the time, must not hold it up. Ask again at nextWake().
  bool ripe(const model::ObjectKey& job, base::Instant now) {
    return soon_.take(held_.try_emplace(job, now).first->second + kHold, now, next_);
  }
  // Every write counts for its own job, also those that needed no permission.
  void note(const model::ObjectKey& job, base::Instant now) {
    lastWrite_[job] = now;
    held_.erase(job);
  }
  // A new cycle asks anew.
  void beginCycle(base::Instant now) {
    next_.reset();
    if (now - cleaned_ < kPerJob) return;
    cleaned_ = now;
    std::erase_if(lastWrite_, [now](const auto& entry) { return now - entry.second >= kPerJob; });
    std::erase_if(held_, [now](const auto& entry) { return now - entry.second >= kForget; });
  }
  [[nodiscard]] std::optional<base::Instant> nextWake() const { return next_; }

 private:
  // Twenty writes a second, counted from when they are made: to carry out a plan of thousands of pods takes
  // longer than that.
  class Budget {
   public:
    // Takes one, unless it is for a later time than `now`; then `next` is moved to that if it is earlier.
    bool take(base::Instant when, base::Instant now, std::optional<base::Instant>& next) {
      if (now - window_ >= kWindow) {
        window_ = now;
        used_ = 0;
      }
      if (used_ >= kPerWindow) when = std::max(when, window_ + kWindow);
      if (when > now) {
        next = next ? std::min(*next, when) : when;
        return false;
      }
      ++used_;
      return true;
    }

   private:
    base::Instant window_{};
    int used_ = 0;
  };

  static constexpr base::Instant::duration kWindow = std::chrono::seconds(1);
  static constexpr base::Instant::duration kPerJob = std::chrono::seconds(1);
  static constexpr base::Instant::duration kHold = std::chrono::seconds(1);
  static constexpr base::Instant::duration kForget = std::chrono::minutes(1);
  static constexpr int kPerWindow = 20;

  std::map<model::ObjectKey, base::Instant> lastWrite_;
  std::map<model::ObjectKey, base::Instant> held_;  // since when
  base::Instant cleaned_{};
  Budget spare_;
  Budget soon_;
  std::optional<base::Instant> next_;
};

}  // namespace trainyard::operator_
