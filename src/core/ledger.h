#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/snapshot.h"

namespace trainyard::core {

// Free room of every node, after everything that holds or will hold some of it.
//
// Counted, per node (docs/architecture.md, "What counts as used"):
//  - bound pods that are not finished, terminating ones included;
//  - ungated, unbound pods pinned to the node, whether or not their job still exists;
//  - places of every job's placed record and proposal that no counted pod fills yet, with the template's requests
//    (an Aborting proposal included, until its pods are gone). A member that exists, bound or pinned, counts by its
//    own requests instead: admission may have enlarged it.
class Ledger {
 public:
  explicit Ledger(const model::Snapshot& snapshot);

  struct NodeRoom {
    const model::Node* node = nullptr;
    model::Resources free;  // may be negative where the node is over-committed
  };

  // Sorted by node name.
  [[nodiscard]] const std::vector<NodeRoom>& nodes() const { return nodes_; }
  // Index into nodes(); empty for a node that does not exist.
  [[nodiscard]] std::optional<std::size_t> find(const model::NodeName& name) const;
  // Takes room for `count` members, as a plan of this cycle does.
  void take(std::size_t node, const model::Resources& requests, int count);
  void giveBack(std::size_t node, const model::Resources& requests, int count);

 private:
  std::vector<NodeRoom> nodes_;
  std::unordered_map<model::NodeName, std::size_t> byName_;
};

}  // namespace trainyard::core
