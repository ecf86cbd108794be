#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/time.h"
#include "model/ids.h"

namespace trainyard::sim {

struct SchedulingQueueTimes {
  base::Instant::duration initialBackoff = std::chrono::seconds(1);
  base::Instant::duration maxBackoff = std::chrono::seconds(10);
  base::Instant::duration maxUnschedulable = std::chrono::minutes(5);  // then it is retried without an event
};

// kube-scheduler's queue: pods that may be tried now (by priority, then age), failed pods in their back-off,
// and pods that wait for a change in the cluster.
class SchedulingQueue {
 public:
  // What a failed pod waits for.
  enum class Waits {
    kBackoffOnly,  // an error: retried after the back-off
    kForCapacity,  // no node passed: a new node or a deleted pod may help
    kForAnything,  // an extender refused a node, for reasons of its own
  };
  enum class Event { kCapacity, kOther };

  explicit SchedulingQueue(SchedulingQueueTimes times = {}) : times_(times) {}

  // Adds a schedulable pod; does nothing if it is in the queue.
  void add(const model::Uid& pod, int priority, base::Instant now);
  void remove(const model::Uid& pod);
  // The pod itself was edited: the reasons of its refusal may no longer apply.
  void edited(const model::Uid& pod, base::Instant now);
  // An event in the cluster: waiting pods that it may help return, after their back-off.
  void happened(Event event, base::Instant now);

  // Takes the next pod; it stays registered until failed() or remove().
  [[nodiscard]] std::optional<model::Uid> pop(base::Instant now);
  void failed(const model::Uid& pod, Waits waits, base::Instant now);

  // When pop() may return a pod without any event.
  [[nodiscard]] std::optional<base::Instant> nextDue(base::Instant now) const;
  [[nodiscard]] std::size_t size() const { return pods_.size(); }

 private:
  enum class Place { kActive, kBackoff, kUnschedulable, kTaken };
  struct Entry {
    Place place = Place::kActive;
    Waits waits = Waits::kForCapacity;
    int priority = 0;
    std::uint64_t order = 0;  // of its first addition
    int attempts = 0;
    base::Instant backoffEnd{};
    base::Instant since{};  // the time of the last failure
  };
  using Rank = std::tuple<int, std::uint64_t, model::Uid>;

  static Rank rankOf(const model::Uid& pod, const Entry& entry) {
    return {-entry.priority, entry.order, pod};
  }
  [[nodiscard]] base::Instant::duration backoffOf(int attempts) const;
  void bringBack(const model::Uid& pod, Entry& entry, base::Instant now);
  void ripen(base::Instant now);

  SchedulingQueueTimes times_;
  std::map<model::Uid, Entry> pods_;
  std::set<Rank> active_;
  std::uint64_t lastOrder_ = 0;
};

}  // namespace trainyard::sim
