#include "core/search/gpu_types.h"

#include <algorithm>

namespace trainyard::core {

GpuTypes::GpuTypes(const model::SharedList<model::Node>& nodes, const std::string& label)
    : nodes_(nodes), label_(label) {
  const std::string* first = nullptr;
  const bool several = std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) {
    const std::string* type = node->allocatable.gpus() > 0 ? node->labels.find(label) : nullptr;
    if (type == nullptr) return false;
    if (first == nullptr) first = type;
    return *type != *first;
  });
  if (!several) return;
  for (const auto& node : nodes) {
    const std::string* type = node->allocatable.gpus() > 0 ? node->labels.find(label) : nullptr;
    if (type == nullptr) continue;
    typeOf_.emplace(node->name, *type);
    others_.try_emplace(*type);
  }
  for (auto& [type, others] : others_) {
    for (const auto& [node, itsType] : typeOf_) {
      if (itsType != type) others.push_back(node);
    }
  }
}

bool namesLabel(const model::PodShape& shape, const std::string& label) {
  if (shape.nodeSelector.find(label) != nullptr) return true;
  if (!shape.affinity) return false;
  return std::any_of(
      shape.affinity->begin(), shape.affinity->end(), [&](const model::NodeSelectorTerm& term) {
        return std::any_of(term.labels.begin(), term.labels.end(),
                           [&](const model::SelectorRequirement& each) { return each.key == label; });
      });
}

bool GpuTypes::matter(const PlaceRequest& request) const {
  if (others_.size() < 2) return false;
  std::size_t members = 0;
  for (const PlaceRequest::Group& group : request.groups) {
    if (group.role->shape.requests.gpus() > 0) members += group.indices.size();
  }
  return members > 1;
}

bool GpuTypes::straddles(const model::Job& job, const std::vector<model::Assignment>& assignments,
                         const std::vector<model::Assignment>& beside) const {
  const std::string* first = nullptr;
  const auto isOfAnother = [&](const model::Assignment& place) {
    const model::Role* role = job.spec.findRole(place.role);
    if (role == nullptr || role->shape.requests.gpus() <= 0 || namesLabel(role->shape, label_)) return false;
    const auto type = typeOf_.find(place.node);
    if (type == typeOf_.end()) return false;
    if (first == nullptr) first = &type->second;
    return *first != type->second;
  };
  return std::any_of(assignments.begin(), assignments.end(), isOfAnother) ||
         std::any_of(beside.begin(), beside.end(), isOfAnother);
}

}  // namespace trainyard::core
