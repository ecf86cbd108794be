#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/name_index.h"
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
// Keeps pointers into the snapshot's objects: they must outlive it.
class Ledger {
 public:
  explicit Ledger(const model::Snapshot& snapshot);

  struct NodeRoom {
    const model::Node* node = nullptr;
    model::Resources free;  // may be negative where the node is over-committed
  };

  // One pod, or the pod-less places of one role of a job, or what a plan of this cycle took.
  struct Holding {
    const model::Job* job = nullptr;  // nullptr: a pod of none of the snapshot's jobs
    const model::Pod* pod = nullptr;  // nullptr: places
    const model::Resources& amount;
  };

  // In the order of Snapshot::nodes: sorted by name.
  [[nodiscard]] const std::vector<NodeRoom>& nodes() const { return nodes_; }
  // Index into nodes(); empty for a node that does not exist.
  [[nodiscard]] std::optional<std::size_t> find(const model::NodeName& name) const;

  // Takes room for `count` members, as a plan of this cycle does; `by` makes the holder known to holdings().
  void take(std::size_t node, const model::Resources& requests, int count, const model::Job* by = nullptr);
  void giveBack(std::size_t node, const model::Resources& requests, int count,
                const model::Job* by = nullptr);

  // Calls visit(const Holding&) for everything that holds room of the node: pods by name, then places by job
  // name, then what take() took.
  template <typename Visit>
  void forEachHolding(std::size_t node, Visit visit) const {
    for (std::uint32_t i = entriesBegin_[node]; i < entriesBegin_[node + 1]; ++i)
      visit(holdingOf(entries_[i]));
    for (const Entry& entry : taken_) {
      if (entry.node == node) visit(holdingOf(entry));
    }
  }

 private:
  // Places keep their amount in places_: a pointer into it would not survive a copy of the ledger.
  struct Entry {
    std::uint32_t node = 0;
    std::uint32_t place = 0;
    const model::Job* job = nullptr;
    const model::Pod* pod = nullptr;
  };
  class Builder;

  [[nodiscard]] Holding holdingOf(const Entry& entry) const {
    return {entry.job, entry.pod, entry.pod != nullptr ? entry.pod->shape.requests : places_[entry.place]};
  }

  std::vector<NodeRoom> nodes_;
  NameIndex byName_;
  std::vector<Entry> entries_;               // grouped by node
  std::vector<std::uint32_t> entriesBegin_;  // of node i, to that of node i + 1
  std::vector<Entry> taken_;
  std::vector<model::Resources> places_;
};

}  // namespace trainyard::core
