#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ledger/name_index.h"
#include "core/ledger/pod_groups.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Free room of every node, after everything that holds or will hold some of it, and who holds it.
//
// Counted, per node (docs/architecture.md, "What counts as used"):
//  - bound pods that are not finished, terminating ones included;
//  - members that were let go to the node and are not bound yet, whether or not their job still exists;
//  - places of every job's placed record and proposal that no counted pod fills yet, with the template's
//    requests (an Aborting proposal included, until it is gone from the record). A member that exists on its
//    place, bound or pinned, counts by its own requests instead: admission may have enlarged it.
// Not counted are places
//  - of members that have succeeded: nothing will run there again in this epoch;
//  - of jobs that are finished or being deleted: they hold what their pods hold and will get no others;
//  - that a proposal gives up (`remove`; everything placed for a Restart): only their pods count, while they
//    last, and the proposal's places inherit from them: per node the larger of both, not their sum;
//  - in a proposal with victims, as far as the victims still hold the room themselves.
//
// Followed from snapshot to snapshot it costs what has changed: whatever has one owner (a job with its pods
// and places, or a pod of nobody's) is counted anew when any of it changed, and only the nodes touched are
// added up anew. Assumes that snapshots share what did not change: the same pointer is the same value. It
// keeps its snapshot's objects alive.
class Ledger {
 public:
  Ledger() = default;
  explicit Ledger(const model::Snapshot& snapshot) { follow(snapshot); }

  // Equal to a new one of this snapshot; what was taken is given back.
  void follow(const model::Snapshot& snapshot);

  struct NodeRoom {
    const model::Node* node = nullptr;
    model::Resources free;  // may be negative where the node is over-committed
    // GPUs of that, and of all that the node has: asked of thousands of nodes for each placement.
    std::int64_t freeGpus = 0;
    std::int64_t gpus = 0;

    void add(const model::Resources& amount) {
      free.add(amount);
      freeGpus = free.gpus();
    }
    void subtract(const model::Resources& amount) {
      free.subtract(amount);
      freeGpus = free.gpus();
    }
  };

  // One pod, or the pod-less places of one role of a job, or what a plan of this cycle took.
  struct Holding {
    const model::Job* job = nullptr;  // nullptr: a pod of none of the snapshot's jobs
    const model::Pod* pod = nullptr;  // nullptr: places
    const model::Resources& amount;
  };

  // In the order of Snapshot::nodes: sorted by name.
  [[nodiscard]] const std::vector<NodeRoom>& nodes() const { return nodes_; }
  // The pods that name a TrainingJob as their owner.
  [[nodiscard]] const PodGroups& pods() const { return groups_; }
  // Another number whenever any node's room or holders may have changed.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // Another number whenever freeWithoutJobs() of any node may have changed.
  [[nodiscard]] std::uint64_t versionWithoutJobs() const { return versionWithoutJobs_; }
  // Another number whenever anything was taken or given back since the last follow(); 0: nothing was.
  [[nodiscard]] std::uint64_t takes() const { return takes_; }
  // The snapshot's job of this uid; null where there is none.
  [[nodiscard]] std::shared_ptr<const model::Job> jobOf(const model::Uid& uid) const {
    const Owner* owner = findOwner(uid);
    return owner == nullptr ? nullptr : owner->job;
  }
  // Index into nodes(); empty for a node that does not exist.
  [[nodiscard]] std::optional<std::size_t> find(const model::NodeName& name) const;

  // What would be free of the node if no TrainingJob of the snapshot held anything.
  [[nodiscard]] model::Resources freeWithoutJobs(std::size_t node) const;
  // The same of most nodes without a copy: what the node has, where nobody else holds any of it; else `into`.
  [[nodiscard]] const model::Resources& freeWithoutJobs(std::size_t node, model::Resources& into) const;

  // Whether members of a job other than `asking` are on the node or have places there, and others of it have
  // theirs elsewhere. What take() took does not count.
  [[nodiscard]] bool hostsSpreadGang(std::size_t node, const model::Job* asking) const;

  // Takes room for `count` members, as a plan of this cycle does; `by` makes the holder known to holdings().
  void take(std::size_t node, const model::Resources& requests, int count, const model::Job* by = nullptr);
  void giveBack(std::size_t node, const model::Resources& requests, int count,
                const model::Job* by = nullptr);

  // For questions only (WhatIf): changes the free room and nobody's holdings.
  void raise(std::size_t node, const model::Resources& amount) { nodes_[node].add(amount); }
  void lower(std::size_t node, const model::Resources& amount) { nodes_[node].subtract(amount); }

  // Calls visit(const Holding&) for everything that holds room of the node: pods by name, then places by job
  // name, then what take() took.
  template <typename Visit>
  void forEachHolding(std::size_t node, Visit visit) const {
    for (const Entry& entry : entries_[node]) visit(holdingOf(entry));
    for (const auto& [where, entry] : taken_) {
      if (where == node) visit(holdingOf(entry));
    }
  }

 private:
  using OwnerId = std::uint32_t;
  static constexpr OwnerId kNobodys = 0;

  struct Entry {
    OwnerId owner = kNobodys;
    const model::Job* job = nullptr;
    const model::Pod* pod = nullptr;
    model::Resources places = {};  // without a pod
  };
  // Whatever names one TrainingJob: the job itself, its pods, its places.
  struct Owner {
    OwnerId id = kNobodys;
    std::shared_ptr<const model::Job> job = nullptr;
    std::vector<std::uint32_t> nodes = {};  // that it has entries on
  };
  class Counter;

  [[nodiscard]] static Holding holdingOf(const Entry& entry) {
    return {entry.job, entry.pod, entry.pod != nullptr ? entry.pod->shape.requests : entry.places};
  }

  void followNodes(const model::SharedList<model::Node>& nodes);
  [[nodiscard]] std::vector<model::Uid> followJobs(const model::SharedList<model::Job>& jobs);
  void replaceJob(const std::shared_ptr<const model::Job>& before,
                  const std::shared_ptr<const model::Job>& after);
  void forgetOwner(Owner& owner);
  void countOwner(const model::Uid& uid);
  void countStranger(const model::Pod& pod);
  void forgetStranger(const model::Pod& pod);
  void add(std::size_t node, Entry entry);
  void markChanged(std::size_t node);
  void addUpChanged();
  enum class WhichEntries { kAll, kOfNoJob };
  static void subtractAll(std::span<const Entry> entries, WhichEntries which, model::Resources& from);
  [[nodiscard]] const model::Pod* findPod(const model::ObjectKey& key) const;
  [[nodiscard]] const Owner* findOwner(const model::Uid& uid) const;

  model::SharedList<model::Node> nodeList_;
  model::SharedList<model::Pod> podList_;
  model::SharedList<model::Job> jobList_;
  PodGroups groups_;

  std::vector<NodeRoom> nodes_;
  NameIndex byName_{0};
  std::vector<std::vector<Entry>> entries_;  // by node: pods by name, then places by job name
  std::unordered_map<model::Uid, Owner> owners_;
  std::set<model::Uid> claimants_;  // jobs whose proposals wait for victims: they depend on other jobs' pods
  OwnerId lastOwner_ = kNobodys;
  std::uint64_t version_ = 0;
  std::uint64_t versionWithoutJobs_ = 0;
  std::vector<std::uint32_t> changed_;  // nodes to add up anew, with repetitions
  std::vector<std::pair<std::size_t, Entry>> taken_;
  std::uint64_t takes_ = 0;
};

}  // namespace trainyard::core
