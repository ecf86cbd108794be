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

// The queues as a tree, with what each may have and holds. Node 0 is the cluster; roots are its children. A
// queue named "default" is there even without an object.
//
// What a queue may have, checked up its whole path:
//  limit       usage never exceeds it, in no resource that it names
//  guaranteed  what it can always have; of an inner queue at least what its children are guaranteed together
//  lending     beyond its guarantee a queue may use whatever is idle, but with jobs that can be stopped only;
//              others must fit beside everybody's guarantees ("nonPreemptible" use), or guarantees would be
//              worth nothing
//
// Weighted dominant share of a queue (Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 4.1,
// with what lies within the guarantee left out): the largest, over the resources that count, of use above the
// guarantee / the cluster's capacity / weight. The resources that count are those that some queue guarantees,
// and GPUs; where nothing is guaranteed GPUs, cpu and memory. (Lost: all resources always. With guarantees of
// GPUs alone every queue would borrow cpu from its first job on.)
//
// With a half-life of usage, queues are compared by what they held on average instead of what they hold at
// the moment. Limits, guarantees and who may stop whom go by the moment.
//
// GPU pods of no TrainingJob, or of one that is gone, are charged, if the policy says so, to the first queue
// by name whose namespaceSelector is there and selects their namespace, as what cannot be stopped.
//
// A queue that has jobs of its own and children competes with the children as one of them, with weight 1.
class QueueTree {
 public:
  using Index = std::size_t;
  // By dimension, in the resource's own unit.
  using Amounts = std::vector<std::int64_t>;
  static constexpr Index kCluster = 0;
  static constexpr std::int64_t kNoLimit = INT64_MAX;
  static constexpr std::int64_t kShareUnit = 1'000'000'000'000;  // shares are told in parts of it

  // Reads queues, capacity (ready and not cordoned nodes) and what the snapshot's jobs hold.
  explicit QueueTree(const model::Snapshot& snapshot);
  // The same, out of what the last tree left in `cache`.
  QueueTree(const model::Snapshot& snapshot, QueueCache& cache);

  struct Node {
    std::string name;
    const std::shared_ptr<const model::Queue>* queue =
        nullptr;  // nullptr: cluster, or "default" without object
    Index parent = kCluster;
    std::vector<Index> path = {};  // from the root queue to itself
    std::int64_t weight = 1;
    Amounts guaranteed;
    Amounts limit;
    Amounts usage;           // its own and that of the queues below
    Amounts ownUsage;        // of its own jobs
    Amounts averaged;        // usage, or its average where older use counts (policy.usageHalfLife)
    Amounts nonPreemptible;  // what its own jobs that cannot be stopped hold
    // Besides: what pods still hold that no record keeps, of jobs that were stopped or have ended, its own
    // and of the queues below. As good as given back to whoever compares queues, and not there yet for its
    // limit.
    Amounts leaving;
    // The least that a job of its own or of a queue below waits for, resource by resource (noteWaiting()).
    std::optional<Amounts> leastWaiting = std::nullopt;
    int admitted = 0;  // its own jobs that hold anything
    std::vector<Index> children = {};
    std::string problem = {};  // why it cannot be used; empty when it can
    std::string problemReason = {};
  };

  [[nodiscard]] std::optional<Index> find(const model::QueueName& name) const;
  // Which queue the job is charged to, and which it asks for now: they differ where that was changed since it
  // was given its places. What it asks for is what its spec says; where that is the default queue, the one
  // that its namespace's label names, if any.
  [[nodiscard]] const model::QueueName& queueNameOf(const model::Job& job) const;
  [[nodiscard]] const model::QueueName& askedQueueOf(const model::Job& job) const;
  // kCluster where there is no such queue. A gang whose Queue object was deleted is charged to a queue in its
  // stead, without guarantee and limit, below the nearest ancestor that is left: what it holds still counts
  // there, and can be reclaimed.
  [[nodiscard]] Index queueOf(const model::Job& job) const;
  [[nodiscard]] const Node& node(Index index) const { return nodes_[index]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const std::vector<std::string>& dimensions() const { return dimensions_; }
  [[nodiscard]] const Amounts& capacity() const { return capacity_; }
  // Dimensions below this one are GPUs, it is cpu itself.
  [[nodiscard]] std::size_t cpu() const { return cpu_; }
  // The node's type of GPU where a quota names that, else nothing.
  [[nodiscard]] std::string_view gpuTypeOf(const model::NodeName& node) const;
  // Whether any quota names a type of GPU: then what a gang holds follows from its places, heldBy().
  [[nodiscard]] bool namesTypes() const { return firstType_ < firstBeside_; }
  // Whether a job's amounts follow from its places: by types of GPUs, or by what lies beside GPUs, which
  // counts for jobs that cannot be preempted.
  [[nodiscard]] bool dependsOnPlaces(bool isPreemptible) const {
    return namesTypes() || (!isPreemptible && firstBeside_ < dimensions_.size());
  }
  // Dimensions from here on are types of GPUs.
  [[nodiscard]] std::size_t firstType() const { return firstType_; }
  // Dimensions from here on are what lies beside GPUs: cores, memory, storage, pod slots and devices of nodes
  // with GPUs. No quota names them. There are some only where a queue is guaranteed GPUs.
  [[nodiscard]] std::size_t firstBeside() const { return firstBeside_; }
  // Whether the dimension counts in shares.
  [[nodiscard]] bool counts(std::size_t dimension) const { return counts_[dimension] != 0; }

  // What the whole gang asks for, GPU types aside: those follow from the places.
  [[nodiscard]] Amounts demandOf(const model::Job& job) const;
  // What members on these places hold, with GPU types.
  [[nodiscard]] Amounts heldBy(const model::Job& job, const std::vector<model::Assignment>& places) const;
  // What the job holds by its record, placed and proposed.
  [[nodiscard]] Amounts holdingsOf(const model::Job& job) const;

  // What pods hold: bound ones that have not ended.
  [[nodiscard]] Amounts heldBy(const JobPods& pods) const;
  // What the job's pods hold beyond its record.
  [[nodiscard]] Amounts leavingOf(const model::Job& job, const JobPods& pods) const;

  void charge(Index queue, const Amounts& amounts, bool nonPreemptible);
  void discharge(Index queue, const Amounts& amounts, bool nonPreemptible);
  void chargeLeaving(Index queue, const Amounts& amounts);
  // The job, charged by its record until now, has ended: what its pods still hold is leaving, and whoever
  // starts in this cycle on its other places must not look like more of the queue's.
  void endHoldings(const model::Job& job, const JobPods& pods);
  // Preemptible ones are asked to give this up: nobody's but what is leaving.
  void giveUp(Index queue, const Amounts& amounts);
  // They are not, after all.
  void takeBack(Index queue, const Amounts& amounts);

  struct Excess {
    Index queue = kCluster;
    std::size_t dimension = 0;
    std::int64_t has = 0;
    std::int64_t bound = 0;
    std::int64_t leaving = 0;  // of `has`
  };
  // The first limit, from the queue upwards, that this much more would exceed.
  [[nodiscard]] std::optional<Excess> beyondLimit(Index queue, const Amounts& more) const;
  // The same as long as what leaves is still there: nothing that stopping anybody would mend.
  [[nodiscard]] std::optional<Excess> beyondLimitYet(Index queue, const Amounts& more) const;
  // The first limit that would be exceeded though nothing ran: the job can never be admitted.
  [[nodiscard]] std::optional<Excess> beyondEmptyLimit(Index queue, const Amounts& more) const;
  // The first guarantee that this much more would exceed; nothing when it stays within them on the whole
  // path. GPUs of a known type are those that it is guaranteed of that type, or of what it is guaranteed
  // beyond all types, which may be of any.
  [[nodiscard]] std::optional<Excess> beyondGuarantee(Index queue, const Amounts& more) const;
  // The same of the queue alone, without those above it.
  [[nodiscard]] std::optional<Excess> beyondOwnGuarantee(Index queue, const Amounts& more) const;
  // Whether this much more of what cannot be preempted leaves room for all guarantees, in the cluster and
  // below the limits of the queues above; else the first resource that it does not.
  [[nodiscard]] std::optional<Excess> beyondNonPreemptible(Index queue, const Amounts& more) const;

  // Another number whenever anything may have been charged or discharged.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // Weighted dominant share above the guarantee with this much more (or less), in 10^-12 of the cluster: by
  // all that counts, and of the types of GPUs by those that are wanted. (Lost: all types. Who wants a type of
  // which neither's dominant share is would win back for ever what was just taken from him.)
  [[nodiscard]] std::int64_t shareWith(Index queue, const Amounts& more) const;
  [[nodiscard]] std::int64_t shareWithout(Index queue, const Amounts& less, const Amounts& wanted) const;
  // What of two queues is compared to say which is served first: the branches below their lowest common
  // ancestor, or what the ancestor holds itself where one of the queues is above the other.
  struct Serving {
    Index branch = kCluster;
    bool isAbove = false;
  };
  struct Servings {
    Serving a;
    Serving b;
  };
  [[nodiscard]] Servings servings(Index a, Index b) const;
  // The smaller with its job is served first. Holds until anything is charged or discharged.
  [[nodiscard]] std::int64_t servingShare(const Serving& serving, const Amounts& more) const;
  // The two branches below the lowest common ancestor; equal indices for the same queue, or where one is
  // above the other the upper one itself.
  struct Branches {
    Index a = kCluster;
    Index b = kCluster;
  };
  [[nodiscard]] Branches branches(Index a, Index b) const;
  // Of what is wanted, that for which whoever holds this may be asked: a gang gives only what it holds, and
  // one that gives up GPUs while the cluster has too few gives them for the sake of GPUs, and of cpu or
  // memory where the cluster has too little of that, too. (Lost: everything that is wanted. Idle cpu that its
  // jobs use beyond their part would cost a queue its guaranteed GPUs. And GPUs alone in any case: on its
  // nodes it kept all cores from a queue that was guaranteed them.)
  [[nodiscard]] Amounts yieldedOf(const Amounts& wanted, const Amounts& held) const;
  // Whether the queue holds more than it is guaranteed of something that `wanted` needs; of GPUs of a known
  // type as for beyondGuarantee().
  [[nodiscard]] bool borrows(Index queue, const Amounts& wanted) const;
  // A job of the queue waits for this.
  void noteWaiting(Index queue, const Amounts& demand);
  // Whether a job that waits in the queue, or below it, would be within its guarantee once a gang that holds
  // this has gone. Resource by resource: of several jobs it may be said too early, never too late.
  [[nodiscard]] bool takesBack(Index queue, const Amounts& held) const;
  // Whether a gang of the queue that holds this holds a larger part of something wanted that lies beside GPUs
  // than of all that the queue is guaranteed: all cores of a node beside one guaranteed GPU. So does every
  // gang that holds nothing that the queue is guaranteed.
  [[nodiscard]] bool holdsBeyondItsPart(Index queue, const Amounts& held, const Amounts& wanted) const;

  // Nodes of the type of GPU that the dimension stands for; those with GPUs for what lies beside these; none
  // for any other resource.
  [[nodiscard]] std::vector<model::NodeName> nodesOfType(std::size_t dimension) const;
  // A resource's amount in the words of a manifest: "8 nvidia.com/gpu".
  [[nodiscard]] std::string amount(std::size_t dimension, std::int64_t amount) const;
  // Without the resource's name: "8", "500m".
  [[nodiscard]] std::string plain(std::size_t dimension, std::int64_t amount) const;

 private:
  void readQueues(const model::Snapshot& snapshot);
  void nameDimensions(const model::Snapshot& snapshot);
  void nameBesideGpus(const model::Snapshot& snapshot, QueueCache& cache);
  void readCapacity(const model::Snapshot& snapshot, QueueCache& cache);
  [[nodiscard]] std::map<model::NodeName, std::size_t> typesOfNodes(const model::Snapshot& snapshot) const;
  [[nodiscard]] Amounts capacityOf(const model::Snapshot& snapshot,
                                   const std::map<model::NodeName, std::size_t>& types) const;
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
  // Of members on nodes with GPUs.
  void addBeside(const model::Resources& requests, std::int64_t count, Amounts& into) const;
  // With the type of GPU that the node has.
  void addHeldOn(const model::Assignment& place, const model::Resources& requests, Amounts& into) const;
  void addHeldOn(const model::NodeName& node, const model::Resources& requests, std::int64_t count,
                 Amounts& into) const;
  [[nodiscard]] std::int64_t guaranteedOf(const Node& node, std::size_t dimension) const;
  [[nodiscard]] bool commitsTooMuch(Index queue, std::size_t dimension, std::int64_t more) const;
  [[nodiscard]] std::int64_t committed(Index index, std::size_t dimension, Index to, std::int64_t more) const;
  [[nodiscard]] std::int64_t share(const Amounts& usage, const Amounts& more, int sign,
                                   const Amounts* guaranteed, std::int64_t weight,
                                   const Amounts* wanted = nullptr) const;
  [[nodiscard]] bool wantsTypes(const Amounts& wanted) const;
  [[nodiscard]] std::int64_t beyondTypes(const Node& node, const Amounts* more) const;
  [[nodiscard]] std::int64_t ofAnyType(const Node& node) const;

  std::vector<Node> nodes_;
  std::unordered_map<model::QueueName, Index> byName_;
  std::unordered_map<model::QueueName, Index>
      deleted_;  // queues that gangs are charged to, without an object
  std::unordered_map<std::string, model::QueueName> defaultOf_;  // by namespace, where its label names one
  std::vector<std::string> dimensions_;
  std::vector<char> counts_;
  std::size_t cpu_ = 0;  // dimensions before it are the resources that are GPUs, after it comes memory
  std::size_t firstType_ = 0;
  std::size_t firstBeside_ = 0;
  Amounts capacity_;
  std::shared_ptr<const std::set<model::NodeName>> gpuNodes_;  // null: nothing lies beside GPUs
  std::uint64_t version_ = 0;
  // Dimension of each node's GPU type where some quota names it.
  std::shared_ptr<const std::map<model::NodeName, std::size_t>> typeOf_;
};

}  // namespace trainyard::core
