#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include "base/executor.h"
#include "core/gang/action.h"
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
  // For the first news of a gang, which better news overtake within moments, so that one write tells both:
  // that it comes up, that it runs. False: ask again at nextWake(). A budget of its own: it is news of a job
  // once only, and waiting jobs' words, which change all the time, must not hold it up.
  //
  // Who runs is told of at once, who comes up after a second and then for as long as others use up a budget:
  // where thousands of pods come up slowly, telling of each twice would slow them further. In a rush both
  // wait until it is over, a minute at most.
  bool ripe(const model::ObjectKey& job, core::HeldNews news, base::Instant now) {
    Held& held = held_.try_emplace(job, Held{now, news}).first->second;
    held.news = news;
    const base::Instant due = dueOf(held);
    if (!rush_ && news == core::HeldNews::kComesUp) return soon_.take(due, now, next_);
    if (now < due) wakeAt(due);
    return now >= due;
  }
  // What of the job's news would not be ripe yet.
  [[nodiscard]] core::HeldNews heldOf(const model::ObjectKey& job, base::Instant now) const {
    const auto held = held_.find(job);
    return held == held_.end() || now >= dueOf(held->second) ? core::HeldNews::kNone : held->second.news;
  }
  // Every write counts for its own job, also those that needed no permission.
  void note(const model::ObjectKey& job, base::Instant now) {
    lastWrite_[job] = now;
    held_.erase(job);
  }
  // A new cycle asks anew. There is a rush while more pods are on their way (to be made or bound yet) than
  // are told of in a second, and a moment longer; and never while somebody waits for room, who may have to
  // stop a job that has to be told of before it can be stopped.
  void beginCycle(base::Instant now, std::size_t podsOnTheirWay = 0, bool roomWanted = false) {
    next_.reset();
    if (podsOnTheirWay > kPerWindow) rushEnds_ = now + kRushFades;
    const bool rush = now < rushEnds_ && !roomWanted;
    if (rush && !held_.empty()) wakeAt(rushEnds_);
    if (rush_ && !rush && !held_.empty()) wakeAt(now);
    rush_ = rush;
    for (const auto& [job, held] : held_) {
      if (now < dueOf(held)) wakeAt(dueOf(held));
    }
    if (now - cleaned_ < kPerJob) return;
    cleaned_ = now;
    std::erase_if(lastWrite_, [now](const auto& entry) { return now - entry.second >= kPerJob; });
    std::erase_if(held_, [now](const auto& entry) { return now - entry.second.since >= kForget; });
  }
  [[nodiscard]] std::optional<base::Instant> nextWake() const { return next_; }

 private:
  struct Held {
    base::Instant since;
    core::HeldNews news;
  };

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
    std::size_t used_ = 0;
  };

  [[nodiscard]] base::Instant dueOf(const Held& held) const {
    if (rush_) return held.since + kLongest;
    return held.news == core::HeldNews::kComesUp ? held.since + kHold : held.since;
  }
  void wakeAt(base::Instant when) { next_ = next_ ? std::min(*next_, when) : when; }

  static constexpr base::Instant::duration kWindow = std::chrono::seconds(1);
  static constexpr base::Instant::duration kPerJob = std::chrono::seconds(1);
  static constexpr base::Instant::duration kHold = std::chrono::seconds(1);
  static constexpr base::Instant::duration kRushFades = std::chrono::seconds(2);
  static constexpr base::Instant::duration kLongest = std::chrono::minutes(1);
  static constexpr base::Instant::duration kForget = std::chrono::minutes(2);
  static constexpr std::size_t kPerWindow = 20;

  std::map<model::ObjectKey, base::Instant> lastWrite_;
  std::map<model::ObjectKey, Held> held_;
  bool rush_ = false;
  base::Instant rushEnds_{};
  base::Instant cleaned_{};
  Budget spare_;
  Budget soon_;
  std::optional<base::Instant> next_;
};

}  // namespace trainyard::operator_
