#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/ledger/name_index.h"
#include "model/job.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/shared_list.h"

namespace trainyard::core {

// What uses the capacity of each node, and what that leaves free. The Ledger decides what counts; this class
// keeps the entries and sums up again the nodes where any of them changed.
class NodeHoldings {
 public:
  struct NodeCapacity {
    const model::Node* node = nullptr;
    model::Resources free;  // may be negative if the node is over-committed
    // The GPUs in `free` and on the node: every placement reads them for thousands of nodes.
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

  // One pod, or the assigned nodes without pods of one role, or the capacity that a plan of this cycle took.
  struct Holding {
    const model::Job* job = nullptr;  // nullptr: a pod of none of the snapshot's jobs
    const model::Pod* pod = nullptr;  // nullptr: assigned nodes
    const model::Resources& amount;
  };

  using OwnerId = std::uint32_t;
  static constexpr OwnerId kNoOwner = 0;
  struct Entry {
    OwnerId owner = kNoOwner;
    const model::Job* job = nullptr;
    const model::Pod* pod = nullptr;
    model::Resources assigned = {};  // without a pod
  };

  // Replaces the node objects. Returns false, and has no entries any more, if the names are not the same as
  // before: all indices mean other nodes then.
  [[nodiscard]] bool follow(const model::SharedList<model::Node>& nodes);
  void giveBackAllTaken();
  void add(std::size_t node, Entry entry);
  void removeOwnedBy(OwnerId owner, std::size_t node);
  void removePod(const model::Pod& pod, std::size_t node);
  // Sums up the nodes with changes. Until then, the free capacity of these nodes is out of date.
  void addUpChanged();

  // The rest is described at Ledger, which passes it on.
  [[nodiscard]] const std::vector<NodeCapacity>& nodes() const { return nodes_; }
  [[nodiscard]] std::optional<std::size_t> find(const model::NodeName& name) const;
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::uint64_t versionWithoutJobs() const { return versionWithoutJobs_; }
  [[nodiscard]] std::uint64_t takes() const { return takes_; }
  [[nodiscard]] const model::Resources& freeWithoutJobs(std::size_t node, model::Resources& into) const;
  [[nodiscard]] bool hostsSpreadGang(std::size_t node, const model::Job* asking) const;
  void take(std::size_t node, const model::Resources& requests, int count, const model::Job* by);
  void raise(std::size_t node, const model::Resources& amount) { nodes_[node].add(amount); }
  void lower(std::size_t node, const model::Resources& amount) { nodes_[node].subtract(amount); }
  template <typename Visit>
  void forEachHolding(std::size_t node, Visit visit) const {
    for (const Entry& entry : entries_[node]) visit(holdingOf(entry));
    for (const auto& [where, entry] : taken_) {
      if (where == node) visit(holdingOf(entry));
    }
  }

 private:
  [[nodiscard]] static Holding holdingOf(const Entry& entry) {
    return {entry.job, entry.pod, entry.pod != nullptr ? entry.pod->shape.requests : entry.assigned};
  }
  void markChanged(std::size_t node);
  enum class WhichEntries { kAll, kOfNoJob };
  static void subtractAll(std::span<const Entry> entries, WhichEntries which, model::Resources& from);

  model::SharedList<model::Node> nodeList_;
  std::vector<NodeCapacity> nodes_;
  NameIndex byName_{0};
  std::vector<std::vector<Entry>> entries_;  // by node: pods by name, then assigned nodes by job name
  std::uint64_t version_ = 0;
  std::uint64_t versionWithoutJobs_ = 0;
  std::vector<std::uint32_t> changed_;  // nodes to sum up again, with duplicates
  std::vector<std::pair<std::size_t, Entry>> taken_;
  std::uint64_t takes_ = 0;
};

}  // namespace trainyard::core
