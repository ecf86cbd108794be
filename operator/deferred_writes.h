#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "base/executor.h"
#include "core/gang/action.h"
#include "model/ids.h"

namespace trainyard::operator_ {

// Decides when status writes that can wait are made.
class DeferredWrites {
 public:
  // For writes that only refresh messages or counts. All jobs share twenty a second, so that a thousand
  // pending jobs cannot crowd out the writes that place gangs. Each job may write one second after its last
  // write, then after two, four and so on up to kMaxPause. Its pause is reset once it has been quiet for
  // twice as long. In a busy cluster, the reason why a job is pending changes in every cycle. Takes one write
  // out of the budget. If false, ask again at nextWake().
  bool allow(const model::ObjectKey& job, base::Instant now) {
    const auto last = lastWrite_.find(job);
    if (last == lastWrite_.end()) return spare_.take(now, now, next_);
    Last& words = last->second;
    if (!spare_.take(words.at + words.apart, now, next_)) return false;
    words.apart = now < words.forgottenAt() ? std::min(2 * words.apart, kMaxPause) : kPerJob;
    return true;
  }
  // For the first news of a gang: that it comes up, then that it runs. The second often follows within
  // moments, so that one write can report both. If false, ask again at nextWake(). Has its own budget: such
  // news comes once per job and must not wait for the messages of pending jobs, which change all the time.
  //
  // kStarted is written at once. kBound waits for a second and then for free budget: with thousands of pods
  // that come up slowly, writing both would slow them further. In a rush, a gang with its pod as its record
  // (`isRecord`) holds back both until the rush ends, a minute at most.
  bool isDue(const model::ObjectKey& job, core::DeferredStatus status, bool isRecord, base::Instant now) {
    Held& held = held_.try_emplace(job, Held{now}).first->second;
    held.status = status;
    held.isRecord = isRecord;
    const base::Instant due = dueOf(held);
    if (now < due) wakeAt(wakeFor(held));
    if (status == core::DeferredStatus::kStarted || (rush_ && isRecord)) return now >= due;
    return soon_.take(due, now, next_);
  }
  // Returns the news of the job that is not due yet.
  [[nodiscard]] core::DeferredStatus deferredStatus(const model::ObjectKey& job, base::Instant now) const {
    const auto held = held_.find(job);
    return held == held_.end() || now >= dueOf(held->second) ? core::DeferredStatus::kNone
                                                             : held->second.status;
  }
  // Call when the job's status has been written.
  void written(const model::ObjectKey& job) { held_.erase(job); }
  // Records a write of the job, including writes that needed no permission.
  void note(const model::ObjectKey& job, base::Instant now) { lastWrite_[job].at = now; }
  // Starts a cycle. A rush lasts while more pods are still to be made or bound than one second's budget
  // covers, and a moment longer. While a pending job needs capacity, and a moment after, there is no rush,
  // since a gang without a written record cannot be preempted.
  void beginCycle(base::Instant now, std::size_t unboundPods = 0, bool capacityWanted = false) {
    next_.reset();
    if (unboundPods > kPerWindow) rushEnds_ = now + kRushFades;
    if (capacityWanted) calmUntil_ = now + kCalm;
    const bool rushed = std::exchange(rush_, now < rushEnds_ && now >= calmUntil_);
    if (rushed && !rush_ && !held_.empty()) wakeAt(now);
    for (const auto& [job, held] : held_) {
      // The news became due after the last cycle, or is not due yet: wake for it.
      if (lastCycle_ < dueOf(held)) wakeAt(std::max(now, wakeFor(held)));
    }
    lastCycle_ = now;
    if (now - cleaned_ < kPerJob) return;
    cleaned_ = now;
    std::erase_if(lastWrite_, [now](const auto& entry) { return now >= entry.second.forgottenAt(); });
    std::erase_if(held_, [now](const auto& entry) { return now - entry.second.since >= kForget; });
  }
  [[nodiscard]] std::optional<base::Instant> nextWake() const { return next_; }

  static constexpr base::Instant::duration kMaxPause = std::chrono::seconds(16);

 private:
  static constexpr base::Instant::duration kPerJob = std::chrono::seconds(1);
  struct Last {
    base::Instant at{};
    base::Instant::duration apart = kPerJob;
    [[nodiscard]] base::Instant forgottenAt() const { return at + 2 * apart; }
  };
  struct Held {
    base::Instant since;
    core::DeferredStatus status = core::DeferredStatus::kNone;
    bool isRecord = false;
  };

  // Twenty writes a second, counted from when they are made: carrying out a plan of thousands of pods takes
  // longer than a second.
  class Budget {
   public:
    // Takes one write if it is due by `now`. Otherwise moves `next` to the due time if that is earlier.
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
    if (rush_ && held.isRecord) return held.since + kLongest;
    return held.status == core::DeferredStatus::kBound ? held.since + kHold : held.since;
  }
  [[nodiscard]] base::Instant wakeFor(const Held& held) const {
    return rush_ && held.isRecord ? std::min(dueOf(held), rushEnds_) : dueOf(held);
  }
  void wakeAt(base::Instant when) { next_ = next_ ? std::min(*next_, when) : when; }

  static constexpr base::Instant::duration kWindow = std::chrono::seconds(1);
  static constexpr base::Instant::duration kHold = std::chrono::seconds(1);
  static constexpr base::Instant::duration kCalm = std::chrono::seconds(5);
  static constexpr base::Instant::duration kRushFades = std::chrono::seconds(2);
  static constexpr base::Instant::duration kLongest = std::chrono::minutes(1);
  static constexpr base::Instant::duration kForget = std::chrono::minutes(2);
  static constexpr std::size_t kPerWindow = 20;

  std::map<model::ObjectKey, Last> lastWrite_;
  std::map<model::ObjectKey, Held> held_;
  bool rush_ = false;
  base::Instant rushEnds_{};
  base::Instant calmUntil_{};
  base::Instant lastCycle_{};
  base::Instant cleaned_{};
  Budget spare_;
  Budget soon_;
  std::optional<base::Instant> next_;
};

}  // namespace trainyard::operator_
