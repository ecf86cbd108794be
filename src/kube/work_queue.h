#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/executor.h"

namespace trainyard::kube {

struct WorkQueueOptions {
  std::size_t workers = 1;  // keys processed at once
  base::Instant::duration firstDelay = std::chrono::milliseconds(5);
  base::Instant::duration maxDelay = std::chrono::seconds(1'000);
};

// A queue of keys to be processed. A key is never processed twice at the same time. Adding a queued key
// changes nothing; adding a key that is being processed queues it once more. Runs on the executor's loop.
template <typename Key>
class WorkQueue {
 public:
  using Done = std::function<void()>;
  // Processes `key`, immediately or over several turns of the loop, then calls `done` exactly once.
  using Worker = std::function<void(const Key& key, Done done)>;

  WorkQueue(WorkQueueOptions options, base::Executor& executor, Worker worker)
      : state_(std::make_shared<State>(options, executor, std::move(worker))) {}
  // Drops the keys that were not yet processed.
  ~WorkQueue() { state_->stop(); }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(const Key& key) { state_->add(key); }
  // If a key is delayed several times, the earliest time counts.
  void addAfter(const Key& key, base::Instant::duration delay) { state_->addAfter(key, delay); }
  // Adds the key after its back-off, which doubles with each call until forget().
  void addRateLimited(const Key& key) { state_->addAfter(key, state_->nextDelay(key)); }
  void forget(const Key& key) { state_->failures.erase(key); }
  [[nodiscard]] int failures(const Key& key) const {
    const auto at = state_->failures.find(key);
    return at == state_->failures.end() ? 0 : at->second;
  }
  // The number of keys that wait for a worker, without delayed ones.
  [[nodiscard]] std::size_t size() const { return state_->waiting.size(); }
  [[nodiscard]] std::size_t processing() const { return state_->processing.size(); }

 private:
  struct State : std::enable_shared_from_this<State> {
    State(WorkQueueOptions o, base::Executor& e, Worker w) : options(o), executor(e), worker(std::move(w)) {}

    void add(const Key& key) {
      if (stopped || !dirty.insert(key).second || processing.contains(key)) return;
      waiting.push_back(key);
      wake();
    }

    void addAfter(const Key& key, base::Instant::duration delay) {
      if (stopped) return;
      if (delay <= base::Instant::duration::zero()) {
        add(key);
        return;
      }
      const base::Instant due = executor.now() + delay;
      if (const auto at = delayed.find(key); at != delayed.end()) {
        if (at->second.first <= due) return;
        executor.cancel(at->second.second);
      }
      const base::TimerId timer = executor.postAt(due, [weak = this->weak_from_this(), key] {
        const auto self = weak.lock();
        if (!self) return;
        self->delayed.erase(key);
        self->add(key);
      });
      delayed[key] = {due, timer};
    }

    base::Instant::duration nextDelay(const Key& key) {
      const int failed = failures[key]++;
      base::Instant::duration delay = options.firstDelay;
      for (int i = 0; i < failed && delay < options.maxDelay; ++i) delay *= 2;
      return std::min(delay, options.maxDelay);
    }

    // Workers run from the loop, never inside add().
    void wake() {
      if (awake) return;
      awake = true;
      executor.post([weak = this->weak_from_this()] {
        if (const auto self = weak.lock()) self->handOut();
      });
    }

    void handOut() {
      awake = false;
      while (!stopped && !waiting.empty() && processing.size() < options.workers) {
        const Key key = std::move(waiting.front());
        waiting.pop_front();
        dirty.erase(key);
        processing.insert(key);
        worker(key, [weak = this->weak_from_this(), key] {
          if (const auto self = weak.lock()) self->finished(key);
        });
      }
    }

    void finished(const Key& key) {
      if (processing.erase(key) == 0 || stopped) return;
      if (dirty.contains(key)) waiting.push_back(key);
      if (!waiting.empty()) wake();
    }

    void stop() {
      stopped = true;
      for (const auto& [key, entry] : delayed) executor.cancel(entry.second);
      delayed.clear();
      waiting.clear();
      dirty.clear();
    }

    const WorkQueueOptions options;
    base::Executor& executor;
    const Worker worker;
    std::set<Key> dirty;       // to be processed, waiting or not
    std::set<Key> processing;  // with a worker
    std::deque<Key> waiting;   // dirty and not in processing, in order
    std::map<Key, std::pair<base::Instant, base::TimerId>> delayed;
    std::map<Key, int> failures;
    bool awake = false;
    bool stopped = false;
  };

  std::shared_ptr<State> state_;
};

}  // namespace trainyard::kube
