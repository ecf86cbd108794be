#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/ids.h"
#include "model/resources.h"
#include "model/snapshot.h"

namespace trainyard::core {

class Ledger;

// What the guard knows of one node.
struct GuardNode {
  const model::Node* node = nullptr;
  model::Resources free;            // after everything that the Ledger counts
  model::Resources freeUnreserved;  // after bound pods only: what kube-scheduler sees
  std::int64_t gpus = 0;            // allocatable
  std::int64_t freeGpus = 0;
  std::int64_t reservedGpus = 0;
  // Somebody who is not bound yet has a place here: kube-scheduler knows nothing of it and would give it
  // away.
  bool reserved = false;
};

// A snapshot made ready for questions about single pods. Immutable; any number of threads may ask.
class GuardView {
 public:
  explicit GuardView(model::Snapshot snapshot);
  GuardView(const GuardView&) = delete;
  GuardView& operator=(const GuardView&) = delete;

  [[nodiscard]] const model::Snapshot& snapshot() const { return snapshot_; }
  // Sorted by name.
  [[nodiscard]] const std::vector<GuardNode>& nodes() const { return nodes_; }
  // nullptr for a node that the snapshot does not have.
  [[nodiscard]] const GuardNode* findNode(std::string_view name) const;
  [[nodiscard]] const model::Job* findJob(const model::Uid& uid) const;
  // The unbound pod of that uid that the Ledger counts on the node it is pinned to; nullptr for any other.
  [[nodiscard]] const model::Pod* findPinned(const model::Uid& uid) const;

 private:
  void addNode(const Ledger& ledger, std::size_t index);

  model::Snapshot snapshot_;
  std::vector<GuardNode> nodes_;
  // Keys are the names inside snapshot_.
  std::unordered_map<std::string_view, std::size_t> nodeByName_;
  std::unordered_map<std::string_view, const model::Job*> jobByUid_;
  std::unordered_map<std::string_view, const model::Pod*> pinnedByUid_;
};

}  // namespace trainyard::core
