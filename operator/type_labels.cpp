#include "operator/type_labels.h"

#include <algorithm>
#include <utility>

namespace trainyard::operator_ {
namespace {

std::shared_ptr<const model::Node> withLabel(const model::Node& node, const std::string& label,
                                             const std::string& value) {
  auto copy = std::make_shared<model::Node>(node);
  auto entries = node.labels.entries();
  entries.emplace_back(label, value);
  copy->labels = model::Labels(std::move(entries));
  return copy;
}

}  // namespace

TypeLabels::TypeLabels(kube::ClusterCache& cache, std::function<std::string()> label,
                       std::function<base::WallTime()> now)
    : label_(std::move(label)), now_(std::move(now)) {
  cache.nodes.onChange([this](const auto& before, const auto& after) { follow(before, after); });
}

void TypeLabels::follow(const std::shared_ptr<const model::Node>& before,
                        const std::shared_ptr<const model::Node>& after) {
  const std::string label = label_();
  if (!after || after->labels.find(label) != nullptr || !before || before->uid != after->uid) {
    lost_.erase((after ? after : before)->name);
    return;
  }
  if (const std::string* value = before->labels.find(label); value != nullptr)
    lost_[after->name] = {label, *value, now_()};
}

void TypeLabels::overlay(model::Snapshot& snapshot) {
  std::erase_if(lost_, [&](const auto& each) {
    return each.second.label != snapshot.policy.gpuTypeLabel || snapshot.now - each.second.since >= kKeep;
  });
  for (auto& [name, lost] : lost_) {
    const std::size_t at = snapshot.nodes.positionOf(name);
    if (at == snapshot.nodes.size()) continue;
    const auto& node = snapshot.nodes[at];
    if (lost.from != node) {
      lost.from = node;
      lost.to = withLabel(*node, lost.label, lost.value);
    }
    snapshot.nodes.edit()[at] = lost.to;
  }
}

}  // namespace trainyard::operator_
