#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ledger/node_holdings.h"
#include "core/ledger/pod_groups.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The free capacity of every node, after everything that uses or will use it, and the users of the rest.
//
// What counts as used, per node (docs/architecture.md, "What counts as used"):
//  - bound pods that are not finished, terminating ones included;
//  - members that were released to the node and are not bound yet, whether or not their job still exists;
//  - assigned nodes of every job's placed record and proposal without a counted pod, with the template's
//    requests (an Aborting proposal included, until it is gone from the record). A member that exists on its
//    assigned node, bound or pinned, counts by its own requests instead: admission may have enlarged it.
// Assigned nodes do not count
//  - for members that have succeeded: they do not run again in this epoch;
//  - for jobs that are finished or being deleted: they use what their pods use and get no other nodes;
//  - that a proposal removes (`remove`; everything placed for a Restart): only their pods count while they
//    exist, and the proposal's additions inherit from them: per node the larger of both, not their sum;
//  - in a proposal with victims, as far as the victims still use the capacity themselves.
//
// To follow a new snapshot costs only what has changed. Everything with one owner (a job with its pods and
// assigned nodes, or a pod without an owner) is counted again when any of it changed, and only the affected
// nodes are summed up again. Assumes that snapshots share unchanged objects: the same pointer is the same
// value. The ledger keeps its snapshot's objects alive.
class Ledger {
 public:
  Ledger() = default;
  explicit Ledger(const model::Snapshot& snapshot) { follow(snapshot); }

  // Makes the ledger equal to a new one of this snapshot; all takes are given back.
  void follow(const model::Snapshot& snapshot);

  using NodeCapacity = NodeHoldings::NodeCapacity;
  using Holding = NodeHoldings::Holding;

  // In the order of Snapshot::nodes: sorted by name.
  [[nodiscard]] const std::vector<NodeCapacity>& nodes() const { return holdings_.nodes(); }
  // The pods with a TrainingJob as their owner.
  [[nodiscard]] const PodGroups& pods() const { return groups_; }
  // Changes whenever the free capacity or the holdings of any node may have changed.
  [[nodiscard]] std::uint64_t version() const { return holdings_.version(); }
  // Changes whenever freeWithoutJobs() of any node may have changed.
  [[nodiscard]] std::uint64_t versionWithoutJobs() const { return holdings_.versionWithoutJobs(); }
  // Changes with every take since the last follow(); 0: none.
  [[nodiscard]] std::uint64_t takes() const { return holdings_.takes(); }
  // The snapshot's job of this uid; null if there is none.
  [[nodiscard]] std::shared_ptr<const model::Job> jobOf(const model::Uid& uid) const {
    const Owner* owner = findOwner(uid);
    return owner == nullptr ? nullptr : owner->job;
  }
  // Index into nodes(); nullopt for a node that does not exist.
  [[nodiscard]] std::optional<std::size_t> find(const model::NodeName& name) const {
    return holdings_.find(name);
  }

  // The free capacity of the node if no TrainingJob of the snapshot used anything.
  [[nodiscard]] model::Resources freeWithoutJobs(std::size_t node) const {
    model::Resources into;
    return freeWithoutJobs(node, into);
  }
  // The same without a copy for most nodes: the node's capacity if no other pod uses it; else `into`.
  [[nodiscard]] const model::Resources& freeWithoutJobs(std::size_t node, model::Resources& into) const {
    return holdings_.freeWithoutJobs(node, into);
  }

  // Returns true if a job other than `asking` has members or assignments both on this node and on others.
  // What take() took does not count.
  [[nodiscard]] bool hostsSpreadGang(std::size_t node, const model::Job* asking) const {
    return holdings_.hostsSpreadGang(node, asking);
  }

  // Takes the capacity of `count` members, as a plan of this cycle does; `by` is the holder in
  // forEachHolding().
  void take(std::size_t node, const model::Resources& requests, int count, const model::Job* by = nullptr) {
    holdings_.take(node, requests, count, by);
  }

  // Calls visit(const Holding&) for everything that uses capacity of the node: pods by name, then assigned
  // nodes by job name, then what take() took.
  template <typename Visit>
  void forEachHolding(std::size_t node, Visit visit) const {
    holdings_.forEachHolding(node, visit);
  }

 private:
  friend class WhatIf;  // changes the free capacity for a moment
  class Counter;
  // Everything that names one TrainingJob: the job itself, its pods, its assigned nodes.
  struct Owner {
    NodeHoldings::OwnerId id = NodeHoldings::kNoOwner;
    std::shared_ptr<const model::Job> job = nullptr;
    std::vector<std::uint32_t> nodes = {};  // nodes with entries of this owner
  };

  [[nodiscard]] std::vector<model::Uid> followJobs(const model::SharedList<model::Job>& jobs);
  void replaceJob(const std::shared_ptr<const model::Job>& before,
                  const std::shared_ptr<const model::Job>& after);
  void forgetOwner(Owner& owner);
  void countOwner(const model::Uid& uid);
  void countForeignPod(const model::Pod& pod);
  void forgetForeignPod(const model::Pod& pod);
  [[nodiscard]] const Owner* findOwner(const model::Uid& uid) const;

  model::SharedList<model::Pod> podList_;
  model::SharedList<model::Job> jobList_;
  PodGroups groups_;
  NodeHoldings holdings_;
  std::unordered_map<model::Uid, Owner> owners_;
  // Jobs with proposals that wait for victims: other jobs' pods affect them.
  std::set<model::Uid> preemptors_;
  NodeHoldings::OwnerId lastOwner_ = NodeHoldings::kNoOwner;
};

}  // namespace trainyard::core
