#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ledger/pod_groups.h"
#include "core/queues/queue_cache.h"
#include "model/gang.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The queues as a tree, with their quotas and usage. Node 0 is the cluster; root queues are its children. A
// queue named "default" exists even without an object.
//
// The quotas of a queue, checked on its whole path:
//  limit       usage never exceeds it, in any resource that it names
//  guaranteed  always available to it; for an inner queue at least the sum of its children's guarantees
//  lending     a queue may borrow idle capacity beyond its guarantee, but only with preemptible jobs;
//              jobs that cannot be preempted must fit beside all guarantees ("nonPreemptible" use),
//              or guarantees would be worth nothing
//
// Weighted dominant share of a queue (Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 4.1,
// without what is within the guarantee): the largest, over the resources that count, of usage above the
// guarantee / the cluster's capacity / weight. GPUs count, and the resources that some queue guarantees; if
// nothing is guaranteed, GPUs, cpu and memory. (Lost: all resources always. With guarantees of GPUs alone
// every queue would borrow cpu from its first job on.)
//
// With a half-life of usage, queues are compared by their average usage instead of the present one. Limits,
// guarantees and preemption depend on the present usage.
//
// GPU pods without an existing TrainingJob are charged, if the policy enables it, as not preemptible. Their
// queue is the first by name with a namespaceSelector that selects their namespace.
//
// A queue with both jobs and children competes with the children as one of them, with weight 1.
class QueueTree {
 public:
  using Index = std::size_t;
  // By dimension, in the resource's own unit.
  using Amounts = std::vector<std::int64_t>;
  static constexpr Index kCluster = 0;
  static constexpr std::int64_t kNoLimit = INT64_MAX;
  static constexpr std::int64_t kShareUnit = 1'000'000'000'000;  // shares are multiples of 1 / kShareUnit

  // Reads queues, capacity (ready and not cordoned nodes) and what the snapshot's jobs hold.
  explicit QueueTree(const model::Snapshot& snapshot);
  // As above, reusing what the last tree left in `cache`.
  QueueTree(const model::Snapshot& snapshot, QueueCache& cache);

  struct Node {
    std::string name;
    const std::shared_ptr<const model::Queue>* queue =
        nullptr;  // nullptr: cluster, or "default" without object
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
  [[nodiscard]] const std::vector<std::string>& dimensions() const { return dimensions_; }
  [[nodiscard]] const Amounts& capacity() const { return capacity_; }
  // As capacity(), including nodes that are cordoned or not ready: what runs there is charged, too.
  [[nodiscard]] const Amounts& installed() const { return installed_; }
  // How much of a resource beside GPUs the node with the most of it has for each GPU, in 1/1000 of the
  // resource's unit.
  [[nodiscard]] std::int64_t mostPerGpu(std::size_t dimension) const {
    return mostPerGpu_[dimension - firstGpuNodeResource_];
  }
  // Dimensions below this one are GPUs; this one is cpu.
  [[nodiscard]] std::size_t cpu() const { return cpu_; }
  // The node's type of GPU if a quota names it, else empty.
  [[nodiscard]] std::string_view gpuTypeOf(const model::NodeName& node) const;
  // Whether any quota names a type of GPU: what a gang holds then depends on its nodes, heldBy().
  [[nodiscard]] bool namesTypes() const { return firstType_ < firstGpuNodeResource_; }
  // Whether a job's amounts depend on its nodes: by types of GPUs, or by the resources beside GPUs,
  // which count for jobs that cannot be preempted.
  [[nodiscard]] bool dependsOnNodes(bool isPreemptible) const {
    return namesTypes() || (!isPreemptible && firstGpuNodeResource_ < dimensions_.size());
  }
  // Dimensions from here on are types of GPUs.
  [[nodiscard]] std::size_t firstType() const { return firstType_; }
  // Dimensions from here on are resources beside GPUs: cores, memory, storage, pod slots and devices of nodes
  // with GPUs. No quota names them. They exist only if a queue is guaranteed GPUs.
  [[nodiscard]] std::size_t firstGpuNodeResource() const { return firstGpuNodeResource_; }
  // Whether the dimension counts in shares.
  [[nodiscard]] bool counts(std::size_t dimension) const { return counts_[dimension] != 0; }

  // The demand of the whole gang without types of GPUs, which depend on the nodes.
  [[nodiscard]] Amounts demandOf(const model::Job& job) const;
  // What members on these nodes hold, including types of GPUs.
  [[nodiscard]] Amounts heldBy(const model::Job& job,
                               const std::vector<model::Assignment>& assignments) const;
  // What the job holds by its record, placed and proposed.
  [[nodiscard]] Amounts holdingsOf(const model::Job& job) const;

  // What bound pods that have not ended hold.
  [[nodiscard]] Amounts heldBy(const JobPods& pods) const;
  // What the job's pods hold beyond its record.
  [[nodiscard]] Amounts leavingOf(const model::Job& job, const JobPods& pods) const;

  void charge(Index queue, const Amounts& amounts, bool nonPreemptible);
  void discharge(Index queue, const Amounts& amounts, bool nonPreemptible);
  void chargeLeaving(Index queue, const Amounts& amounts);
  // The job, charged by its record until now, has ended. What its pods still hold is charged as leaving, so
  // that a gang that starts on its nodes in this cycle does not count twice in the queue.
  void endHoldings(const model::Job& job, const JobPods& pods);
  // Preemptible gangs are asked to give this up: from now on it counts as leaving only.
  void markLeaving(Index queue, const Amounts& amounts);
  // Reverts markLeaving().
  void unmarkLeaving(Index queue, const Amounts& amounts);

  struct Excess {
    Index queue = kCluster;
    std::size_t dimension = 0;
    std::int64_t has = 0;
    std::int64_t bound = 0;
    std::int64_t leaving = 0;  // of `has`
  };
  // The first limit, from the queue upwards, that this much more would exceed.
  [[nodiscard]] std::optional<Excess> beyondLimit(Index queue, const Amounts& more) const;
  // As above, counting what is leaving: an excess that no further preemption would mend.
  [[nodiscard]] std::optional<Excess> beyondLimitWithLeaving(Index queue, const Amounts& more) const;
  // The first limit that would be exceeded even if nothing ran: the job can never be admitted.
  [[nodiscard]] std::optional<Excess> beyondEmptyLimit(Index queue, const Amounts& more) const;
  // Whether this much more that cannot be preempted leaves capacity for all guarantees, in the cluster and
  // below the limits of the queues above. If not, the first resource that it exceeds.
  [[nodiscard]] std::optional<Excess> beyondNonPreemptible(Index queue, const Amounts& more) const;

  // Changes whenever anything may have been charged or discharged.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // Weighted dominant share above the guarantee with this much more (or less), in 10^-12 of the cluster, over
  // all resources that count; of types of GPUs only the wanted ones. (Lost: all types. If the wanted type is
  // not the dominant share of either queue, each would for ever reclaim what the other has just taken.)
  [[nodiscard]] std::int64_t shareWith(Index queue, const Amounts& more) const;
  [[nodiscard]] std::int64_t shareWithout(Index queue, const Amounts& less, const Amounts& wanted) const;
  // What is compared of two queues to decide which is served first: the branches below their lowest common
  // ancestor, or the ancestor's own holdings if one of the queues is above the other.
  struct Serving {
    Index branch = kCluster;
    bool isAbove = false;
  };
  struct Servings {
    Serving a;
    Serving b;
  };
  [[nodiscard]] Servings servings(Index a, Index b) const;
  // The queue with the smaller share, its job included, is served first. Valid until the next charge().
  [[nodiscard]] std::int64_t servingShare(const Serving& serving, const Amounts& more) const;
  // The two branches below the lowest common ancestor. The indices are equal for the same queue. If one queue
  // is above the other, its branch is the upper queue itself.
  struct Branches {
    Index a = kCluster;
    Index b = kCluster;
  };
  [[nodiscard]] Branches branches(Index a, Index b) const;
  // Records the demand of a pending job of the queue.
  void noteWaiting(Index queue, const Amounts& demand);
  // Whether a pending job of the queue, or below it, is within its guarantee once a gang that holds this has
  // gone. It is computed per resource: with several jobs it is true too early, never too late.
  [[nodiscard]] bool reclaimableAfter(Index queue, const Amounts& held) const;
  // Nodes with the type of GPU of this dimension. For a resource beside GPUs, all
  // nodes with GPUs; for any other resource none.
  [[nodiscard]] std::vector<model::NodeName> nodesOfType(std::size_t dimension) const;
  // An amount with its resource's name, as in a manifest: "8 nvidia.com/gpu".
  [[nodiscard]] std::string amount(std::size_t dimension, std::int64_t amount) const;
  // The amount without the name: "8", "500m".
  [[nodiscard]] std::string plain(std::size_t dimension, std::int64_t amount) const;

 private:
  void readQueues(const model::Snapshot& snapshot);
  void nameDimensions(const model::Snapshot& snapshot);
  void nameGpuNodeResources(const model::Snapshot& snapshot, QueueCache& cache);
  void readCapacity(const model::Snapshot& snapshot, QueueCache& cache);
  [[nodiscard]] std::map<model::NodeName, std::size_t> typesOfNodes(const model::Snapshot& snapshot) const;
  [[nodiscard]] bool hasNodesWithoutGpus() const;
  [[nodiscard]] Amounts mostPerGpuOf(const model::Snapshot& snapshot) const;
  [[nodiscard]] Amounts capacityOf(const model::Snapshot& snapshot,
                                   const std::map<model::NodeName, std::size_t>& types,
                                   bool includeClosed) const;
  void readJobs(const model::Snapshot& snapshot, QueueCache& cache);
  void addHeld(const model::Job& job, int sign, QueueCache& cache) const;
  void addDeleted(const model::QueueName& name, const std::vector<model::QueueName>& ancestors);
  Node& addNode(std::string name);
  void readOtherPods(const model::Snapshot& snapshot);
  void readNamespaces(const model::Snapshot& snapshot);
  void averageUsage(const model::Snapshot& snapshot);
  [[nodiscard]] std::optional<Index> queueOfNamespace(const std::string& ns,
                                                      const model::Snapshot& snapshot) const;
  void findPaths();
  void raiseGuarantees(Index index);
  [[nodiscard]] Amounts amountsOf(const model::Quota& quota, std::int64_t absent) const;
  void addRequests(const model::Resources& requests, std::int64_t count, Amounts& into) const;
  // For members on nodes with GPUs.
  void addGpuNodeResources(const model::Resources& requests, std::int64_t count, Amounts& into) const;
  // Includes the type of GPU that the node has.
  void addHeldOn(const model::Assignment& place, const model::Resources& requests, Amounts& into) const;
  void addHeldOn(const model::NodeName& node, const model::Resources& requests, std::int64_t count,
                 Amounts& into) const;
  [[nodiscard]] std::int64_t guaranteedOf(const Node& node, std::size_t dimension) const;
  [[nodiscard]] bool commitsTooMuch(Index queue, std::size_t dimension, std::int64_t more) const;
  [[nodiscard]] std::int64_t committed(Index index, std::size_t dimension, Index to, std::int64_t more) const;
  [[nodiscard]] std::int64_t share(const Amounts& usage, const Amounts& more, int sign,
                                   const Amounts* guaranteed, std::int64_t weight,
                                   const Amounts* wanted = nullptr) const;

  std::vector<Node> nodes_;
  std::unordered_map<model::QueueName, Index> byName_;
  std::unordered_map<model::QueueName, Index>
      deleted_;  // queues that gangs are charged to, without an object
  std::unordered_map<std::string, model::QueueName> defaultOf_;  // by namespace, if its label names one
  std::vector<std::string> dimensions_;
  std::vector<char> counts_;
  std::size_t cpu_ = 0;  // dimensions before it are resources that are GPUs; memory follows it
  std::size_t firstType_ = 0;
  std::size_t firstGpuNodeResource_ = 0;
  Amounts capacity_;
  Amounts installed_;
  Amounts mostPerGpu_;                                         // by dimension from firstGpuNodeResource_ on
  std::shared_ptr<const std::set<model::NodeName>> gpuNodes_;  // null: there are no resources beside GPUs
  std::uint64_t version_ = 0;
  // The dimension of each node's GPU type if some quota names it.
  std::shared_ptr<const std::map<model::NodeName, std::size_t>> typeOf_;
};

}  // namespace trainyard::core
