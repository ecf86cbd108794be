#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "base/executor.h"
#include "model/ids.h"

namespace trainyard::operator_ {

// A budget for status writes that only refresh words or counts: at most one a second for each job and twenty
// a second over all, so that a thousand waiting jobs cannot crowd out the writes that place gangs.
class DeferredWrites {
 public:
  // Takes a write out of the budget; false: ask again at nextWake().
  bool allow(const model::ObjectKey& job, base::Instant now) {
    if (now - window_ >= kWindow) {
      window_ = now;
      used_ = 0;
    }
    const auto last = lastWrite_.find(job);
    const base::Instant free = last == lastWrite_.end() ? now : last->second + kPerJob;
    const base::Instant slot = used_ < kPerWindow ? now : window_ + kWindow;
    const base::Instant when = std::max(free, slot);
    if (when > now) {
      next_ = next_ ? std::min(*next_, when) : when;
      return false;
    }
    ++used_;
    lastWrite_[job] = now;
    return true;
  }
  // Every write counts for its own job, also those that needed no permission.
  void note(const model::ObjectKey& job, base::Instant now) { lastWrite_[job] = now; }
  void forget(const model::ObjectKey& job) { lastWrite_.erase(job); }
  // A new cycle asks anew.
  void beginCycle() { next_.reset(); }
  [[nodiscard]] std::optional<base::Instant> nextWake() const { return next_; }

 private:
  static constexpr base::Instant::duration kWindow = std::chrono::seconds(1);
  static constexpr base::Instant::duration kPerJob = std::chrono::seconds(1);
  static constexpr int kPerWindow = 20;

  std::map<model::ObjectKey, base::Instant> lastWrite_;
  base::Instant window_{};
  int used_ = 0;
  std::optional<base::Instant> next_;
};

}  // namespace trainyard::operator_
