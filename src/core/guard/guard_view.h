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

// The view of one node.
struct GuardNode {
  const model::Node* node = nullptr;
  // The free capacity after bound pods, assigned nodes of gangs and released pods of gangs. Other unbound
  // pods that are pinned to this node do not count: kube-scheduler decides between foreign pods.
  model::Resources free = {};
  // Requests of bound foreign pods that are being deleted.
  model::Resources leaving = {};
  std::int64_t gpus = 0;  // allocatable
  std::int64_t freeGpus = 0;
  std::int64_t reservedGpus = 0;  // of members that are not bound yet
  std::int64_t runningGpus = 0;   // of bound members
  // An unbound member is assigned to this node: kube-scheduler cannot see it and would give the node away.
  bool reserved = false;
  // A member is bound here.
  bool running = false;
};

// A snapshot prepared for questions about single pods. Immutable; any number of threads may read it.
class GuardView {
 public:
  explicit GuardView(model::Snapshot snapshot);
  // `ledger` must be that of the snapshot.
  GuardView(model::Snapshot snapshot, const Ledger& ledger);
  GuardView(const GuardView&) = delete;
  GuardView& operator=(const GuardView&) = delete;

  [[nodiscard]] const model::Snapshot& snapshot() const { return snapshot_; }
  // Sorted by name.
  [[nodiscard]] const std::vector<GuardNode>& nodes() const { return nodes_; }
  // Returns nullptr for a node that the snapshot does not have.
  [[nodiscard]] const GuardNode* findNode(std::string_view name) const;
  [[nodiscard]] const model::Job* findJob(const model::Uid& uid) const;

 private:
  void addNode(const Ledger& ledger, std::size_t index);

  model::Snapshot snapshot_;
  std::vector<GuardNode> nodes_;
  // Keys are the names inside snapshot_.
  std::unordered_map<std::string_view, std::size_t> nodeByName_;
  std::unordered_map<std::string_view, const model::Job*> jobByUid_;
};

}  // namespace trainyard::core
