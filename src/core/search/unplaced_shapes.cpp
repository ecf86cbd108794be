#include "core/search/unplaced_shapes.h"

namespace trainyard::core {

void UnplacedShapes::follow(const Ledger& ledger) {
  if (ledger.version() == version_) return;
  version_ = ledger.version();
  clear();
}

void UnplacedShapes::clear() {
  failures_.clear();
  reasons_.clear();
}

bool UnplacedShapes::has(const Question& question, const Ledger& ledger) const {
  const auto found = failures_.find(question);
  return found != failures_.end() && found->second == stateOf(ledger);
}

std::shared_ptr<const PlacementFailure> UnplacedShapes::reason(const Question& question,
                                                               const Ledger& ledger) const {
  const auto found = reasons_.find(question);
  return found != reasons_.end() && found->second.first == stateOf(ledger) ? found->second.second : nullptr;
}

}  // namespace trainyard::core
