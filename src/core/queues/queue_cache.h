#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/snapshot.h"

namespace trainyard::core {

class QueueTree;

// What one queue tree leaves to the next: the cluster's capacity, and what jobs hold, added up by queue. As
// long as the resources that count and the nodes stay the same, the next tree costs what has changed. With an
// empty one it is the same tree. Assumes what CycleCache assumes.
class QueueCache {
 public:
  // Of the jobs that name a queue, whether there is such a queue or not.
  struct Held {
    __extension__ using Sum = __int128;  // of so many jobs that it cannot overflow
    std::vector<Sum> amounts;
    std::int64_t jobs = 0;
    // Whether a record names the queue, and the ancestors that it had then.
    bool isCharged = false;
    std::vector<model::QueueName> ancestors = {};
  };
  // By queue, and whether the jobs are nonPreemptible (core/queues/queue_tree.h).
  using Key = std::pair<model::QueueName, bool>;

 private:
  friend class QueueTree;

  std::vector<std::string> dimensions_;
  std::string gpuTypeLabel_;
  model::SharedList<model::Node> nodes_;
  std::vector<std::int64_t> capacity_;
  std::vector<std::string> besideNames_;
  std::shared_ptr<const std::set<model::NodeName>> gpuNodes_;
  std::shared_ptr<const std::set<model::NodeName>> heldBeside_;  // by which held_ was added up
  std::shared_ptr<const std::map<model::NodeName, std::size_t>> typeOf_;
  model::SharedList<model::Job> jobs_;
  std::map<Key, Held> held_;
};

}  // namespace trainyard::core
