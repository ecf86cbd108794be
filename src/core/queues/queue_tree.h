#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ledger/pod_groups.h"
#include "core/queues/cluster_capacity.h"
#include "core/queues/queue_cache.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The queues as a tree, with their quotas and usage. Node 0 is the cluster; root queues are its children. A
// queue named "default" exists even without an object.
//
// The quotas of a queue apply on its whole path:
//  limit       usage never exceeds it, in any resource that it names (core/queues/quota_check.h)
//  guaranteed  always available to it; for an inner queue at least the sum of its children's guarantees
//              (core/queues/guarantee.h)
//  lending     a queue may borrow idle capacity beyond its guarantee, but only with preemptible jobs;
//              jobs that cannot be preempted must fit beside all guarantees ("nonPreemptible" use),
//              or guarantees would be worth nothing
// Between queues the weighted dominant share decides (core/queues/queue_share.h).
//
// GPU pods without an existing TrainingJob are charged, if the policy enables it, as not preemptible. Their
// queue is the first by name with a namespaceSelector that selects their namespace.
class QueueTree {
 public:
  using Index = std::size_t;
  static constexpr Index kCluster = 0;
  static constexpr std::int64_t kNoLimit = INT64_MAX;

  // Reads queues, capacity and what the snapshot's jobs hold (core/queues/queue_tree_builder.h).
  explicit QueueTree(const model::Snapshot& snapshot);
  // As above, reusing what the last tree left in `cache`.
  QueueTree(const model::Snapshot& snapshot, QueueCache& cache);

  struct Node {
    std::string name;
    // nullptr: cluster, or "default" without object
    const std::shared_ptr<const model::Queue>* queue = nullptr;
    Index parent = kCluster;
    std::vector<Index> path = {};  // from the root queue to this one
    std::int64_t weight = 1;
    Amounts guaranteed;    // by name, or what the queues below it are guaranteed in sum
    Amounts covered = {};  // what that covers in proportion, and at most: core/queues/guarantee.h
    Amounts coveredAtMost = {};
    Amounts limit;
    Amounts usage;           // its own and that of the queues below
    Amounts ownUsage;        // of its own jobs
    Amounts averaged;        // usage, or its average where older use counts (policy.usageHalfLife)
    Amounts nonPreemptible;  // what its own jobs that cannot be preempted hold
    // In addition: what pods of preempted or ended jobs hold that is in no record
    // any more, in this queue and those below it. A comparison of queues counts it
    // as returned; the queue's limit does not yet.
    Amounts leaving;
    // The smallest demand of a pending job, of this queue or one below, resource by resource (noteWaiting()).
    std::optional<Amounts> smallestPending = std::nullopt;
    int admitted = 0;  // its own jobs that hold something
    std::vector<Index> children = {};
    std::string problem = {};  // why it cannot be used; empty if it can
    std::string problemReason = {};
  };

  [[nodiscard]] std::optional<Index> find(const model::QueueName& name) const;
  // The queue that the job is charged to, and the one that it asks for now. They differ if the latter was
  // changed after the placement. A job asks for spec.queue; if that is the default queue, for the one
  // that the label of its namespace names, if any.
  [[nodiscard]] const model::QueueName& queueNameOf(const model::Job& job) const;
  [[nodiscard]] const model::QueueName& requestedQueueOf(const model::Job& job) const;
  // kCluster if there is no such queue. A gang with a deleted Queue object is charged to a
  // substitute without guarantee and limit, below the nearest ancestor that exists. What it
  // holds still counts there, and can be reclaimed.
  [[nodiscard]] Index queueOf(const model::Job& job) const;
  [[nodiscard]] const Node& node(Index index) const { return nodes_[index]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const QuotaDimensions& dimensions() const { return capacity_->dimensions(); }
  [[nodiscard]] const ClusterCapacity& capacity() const { return *capacity_; }
  // The two branches below the lowest common ancestor. The indices are equal for the same queue. If one queue
  // is above the other, its branch is the upper queue itself.
  struct Branches {
    Index a = kCluster;
    Index b = kCluster;
  };
  [[nodiscard]] Branches branches(Index a, Index b) const;

  void charge(Index queue, const Amounts& amounts, bool nonPreemptible);
  void discharge(Index queue, const Amounts& amounts, bool nonPreemptible);
  void chargeLeaving(Index queue, const Amounts& amounts);
  // The job, charged by its record until now, has ended. What has not been released on the nodes is charged
  // as leaving, so that a gang that starts on its nodes in this cycle does not count twice in the queue.
  void endHoldings(const model::Job& job, const JobPods& pods);
  // Preemptible gangs are asked to give this up: from now on it counts as leaving only.
  void markLeaving(Index queue, const Amounts& amounts);
  // Reverts markLeaving().
  void unmarkLeaving(Index queue, const Amounts& amounts);
  // Records the demand of a pending job of the queue.
  void noteWaiting(Index queue, const Amounts& demand);

  // Changes whenever anything may have been charged or discharged.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  friend class QueueTreeBuilder;

  explicit QueueTree(std::shared_ptr<const ClusterCapacity> capacity) : capacity_(std::move(capacity)) {}

  std::shared_ptr<const ClusterCapacity> capacity_;
  std::vector<Node> nodes_;
  std::unordered_map<model::QueueName, Index> byName_;
  // Queues that gangs are charged to, without an object.
  std::unordered_map<model::QueueName, Index> deleted_;
  std::unordered_map<std::string, model::QueueName> defaultOf_;  // by namespace, if its label names one
  std::uint64_t version_ = 0;
};

}  // namespace trainyard::core
