#include "core/place/node_refusals.h"

#include <utility>

#include "core/ledger/fit.h"
#include "core/place/shape_key.h"

namespace trainyard::core {
namespace {

// So many constraints are remembered; each costs a byte for each node.
constexpr std::size_t kMost = 256;

}  // namespace

bool NodeRefusals::Answers::mayUse(std::size_t index, const model::Node& node, const model::PodShape& shape) {
  Known& known = known_[index];
  if (known == Known::kNo) known = nodeRefusal(node, shape) ? Known::kRefuses : Known::kOpen;
  return known == Known::kOpen;
}

void NodeRefusals::follow(const model::SharedList<model::Node>& nodes) {
  if (nodes.isSameAs(nodes_)) return;
  if (nodes.size() != nodes_.size()) byConstraints_.clear();
  if (!byConstraints_.empty()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] == nodes_[i]) continue;
      for (auto& [key, answers] : byConstraints_) answers.forget(i);
    }
  }
  nodes_ = nodes;
}

NodeRefusals::Answers& NodeRefusals::of(const model::PodShape& shape) {
  std::string key = constraintsKey(shape);
  if (byConstraints_.size() >= kMost && !byConstraints_.contains(key)) byConstraints_.clear();
  return byConstraints_.try_emplace(std::move(key), nodes_.size()).first->second;
}

}  // namespace trainyard::core
