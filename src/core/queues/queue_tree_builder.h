#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/queues/queue_cache.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Reads a QueueTree from a snapshot: queues, then capacity and coverage, then what jobs and other pods hold.
class QueueTreeBuilder {
 public:
  QueueTreeBuilder(const model::Snapshot& snapshot, QueueCache& cache);
  [[nodiscard]] QueueTree build();

 private:
  using Index = QueueTree::Index;
  using Node = QueueTree::Node;

  void readQueues();
  Node& addNode(std::string name);
  void findPaths();
  void raiseGuarantees(Index index);
  void readNamespaces();
  void readCoverage();
  void readJobs();
  void addHeld(const model::Job& job, int sign);
  void addDeleted(const model::QueueName& name, const std::vector<model::QueueName>& ancestors);
  void readOtherPods();
  [[nodiscard]] std::optional<Index> queueOfNamespace(const std::string& ns) const;
  void averageUsage();

  const model::Snapshot& snapshot_;
  QueueCache& cache_;
  QueueTree tree_;
};

}  // namespace trainyard::core
