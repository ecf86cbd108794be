#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/queues/cluster_capacity.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Passes the cluster's capacity and the holdings of jobs, summed by queue, from one queue tree to the next.
// While the counted resources and the nodes stay the same, the next tree costs only what has changed. An
// empty cache yields the same tree. Assumes what CycleCache assumes.
class QueueCache {
 public:
  // The jobs that name a queue, even if that queue does not exist.
  struct Held {
    __extension__ using Sum = __int128;  // of so many jobs that 64 bits could overflow
    std::vector<Sum> amounts;
    std::int64_t jobs = 0;
    // Whether a record names the queue, and the queue's ancestors by that record.
    bool isCharged = false;
    std::vector<model::QueueName> ancestors = {};
  };
  // By queue, and whether the jobs are nonPreemptible (core/queues/queue_tree.h).
  using Key = std::pair<model::QueueName, bool>;

 private:
  friend class QueueTreeBuilder;

  // What depends on nodes and quotas.
  struct Inputs {
    QuotaDimensions named;
    bool guaranteesGpus = false;
    std::string gpuTypeLabel;
    friend bool operator==(const Inputs&, const Inputs&) = default;
  };
  // The capacity of the snapshot. Forgets the holdings if they would count differently by it.
  std::shared_ptr<const ClusterCapacity> capacityOf(const model::Snapshot& snapshot);

  Inputs inputs_;
  model::SharedList<model::Node> nodes_;
  std::shared_ptr<const ClusterCapacity> capacity_;
  model::SharedList<model::Job> jobs_;
  std::map<Key, Held> held_;
};

}  // namespace trainyard::core
