#include "core/guard/foreign_pod_checker.h"

#include <utility>

namespace trainyard::core {

ForeignPodChecker::NodeCheck ForeignPodChecker::look(std::string_view name) {
  NodeCheck check{.node = view_.findNode(name)};
  if (check.node == nullptr) {
    check.refusal = GuardReason::kUnknownNode;
    return check;
  }
  const model::Resources& free = check.node->free;
  check.freeGpus = check.node->freeGpus;
  if (check.node->reserved) {
    lookAtReservations(name, free, check);
  } else if (check.node->running && !free.covers(pod_.shape.requests)) {
    lookAtRunning(free, check);
  }
  return check;
}

void ForeignPodChecker::lookAtReservations(std::string_view name, const model::Resources& free,
                                           NodeCheck& check) {
  if (free.covers(pod_.shape.requests)) return lookAtHolds(name, free, check);
  check.refusal = GuardReason::kReserved;
  check.lacking = &free;
}

void ForeignPodChecker::lookAtRunning(const model::Resources& free, NodeCheck& check) {
  scratch_ = free;
  scratch_.add(check.node->leaving);
  if (scratch_.covers(pod_.shape.requests)) return;
  check.refusal = GuardReason::kRunning;
  check.lacking = &free;
}

void ForeignPodChecker::lookAtHolds(std::string_view name, const model::Resources& free, NodeCheck& check) {
  const model::Resources* held = holds_.on(name);
  if (held == nullptr) return;
  model::Resources left = free;
  left.subtract(*held);
  if (own_ != nullptr && own_->node.str() == name) left.add(own_->requests);
  check.freeGpus = left.gpus();
  scratch_ = std::move(left);
  if (scratch_.covers(pod_.shape.requests)) return;
  check.refusal = GuardReason::kHeld;
  check.lacking = &scratch_;
}

}  // namespace trainyard::core
