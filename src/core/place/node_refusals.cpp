#include "core/place/node_refusals.h"

#include "core/ledger/node_misfit.h"
#include "core/place/place.h"
#include "core/place/shape_key.h"
#include "core/place/work_budget.h"

namespace trainyard::core {
namespace {

// The most constraints that are cached, at two bytes a node each, and the most text of their keys.
constexpr std::size_t kMax = 256;
constexpr std::size_t kMaxText = 4U << 20U;
// To write and compare that much text takes as long as to look at a node.
constexpr std::size_t kTextOfANode = 256;

}  // namespace

NodeRefusals::Answers::Answers(std::size_t nodes, const model::PodShape& shape, std::int64_t& work)
    : known_(nodes, Known::kNo), matching_(nodes, Known::kNo), cost_(lookCost(shape)), work_(&work) {}

bool NodeRefusals::Answers::mayUse(std::size_t index, const model::Node& node, const model::PodShape& shape) {
  Known& known = known_[index];
  if (known == Known::kNo) {
    *work_ += cost_;
    known = nodeRefusal(node, shape) ? Known::kRefuses : Known::kYes;
  }
  return known == Known::kYes;
}

bool NodeRefusals::Answers::mayBecomeOpen(std::size_t index, const model::Node& node,
                                          const model::PodShape& shape) {
  Known& known = matching_[index];
  if (known == Known::kNo) {
    *work_ += cost_;
    known = node.deleting || !templateMatches(node, shape) ? Known::kRefuses : Known::kYes;
  }
  return known == Known::kYes;
}

void NodeRefusals::follow(const model::SharedList<model::Node>& nodes) {
  if (nodes.isSameAs(nodes_)) return;
  if (nodes.size() != nodes_.size()) forgetAll();
  if (!byConstraints_.empty()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] == nodes_[i]) continue;
      for (auto& [key, answers] : byConstraints_) answers.forget(i);
    }
  }
  nodes_ = nodes;
}

void NodeRefusals::forgetAll() {
  byConstraints_.clear();
  text_ = 0;
}

NodeRefusals::Answers& NodeRefusals::of(const model::PodShape& shape) {
  std::string key = constraintsKey(shape);
  work_ += static_cast<std::int64_t>(key.size() / kTextOfANode);
  const auto known = byConstraints_.find(key);
  if (known != byConstraints_.end()) return known->second;
  if (byConstraints_.size() >= kMax || text_ + key.size() > kMaxText) forgetAll();
  text_ += key.size();
  return byConstraints_.try_emplace(std::move(key), nodes_.size(), shape, work_).first->second;
}

NodeOpenness::NodeOpenness(const PlaceRequest& request, const model::PodShape& shape)
    : shape_(shape), known_(request.refusals == nullptr ? nullptr : &request.refusals->of(shape)) {}

bool NodeOpenness::mayUse(std::size_t index, const model::Node& node) const {
  return known_ != nullptr ? known_->mayUse(index, node, shape_) : !nodeRefusal(node, shape_);
}

bool NodeOpenness::mayBecomeOpen(std::size_t index, const model::Node& node) const {
  return known_ != nullptr ? known_->mayBecomeOpen(index, node, shape_)
                           : !node.deleting && templateMatches(node, shape_);
}

}  // namespace trainyard::core
