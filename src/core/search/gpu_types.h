#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/place/place.h"
#include "model/node.h"
#include "model/shared_list.h"

namespace trainyard::core {

// Whether a template selects nodes by that label itself.
[[nodiscard]] bool namesLabel(const model::PodShape& shape, const std::string& label);

// The type of GPU of each node, by the label that the policy names.
class GpuTypes {
 public:
  GpuTypes(const model::SharedList<model::Node>& nodes, const std::string& label);

  // Whether these are the types of exactly these node objects, by this label.
  [[nodiscard]] bool areOf(const model::SharedList<model::Node>& nodes, const std::string& label) const {
    return nodes_.isSameAs(nodes) && label_ == label;
  }

  // Whether a placement of the request could use two types at all: there are
  // several types, and several members with GPUs.
  [[nodiscard]] bool matter(const PlaceRequest& request) const;
  // Whether members with GPUs, on `assignments` and `beside`, are on nodes of two types. Roles that name the
  // label themselves do not count: they request it.
  [[nodiscard]] bool straddles(const model::Job& job, const std::vector<model::Assignment>& assignments,
                               const std::vector<model::Assignment>& beside = {}) const;
  // For each type, by name, the nodes that a gang must avoid to have all its GPUs of that type.
  [[nodiscard]] const std::map<std::string, std::vector<model::NodeName>>& others() const { return others_; }

 private:
  model::SharedList<model::Node> nodes_;
  std::string label_;
  std::map<model::NodeName, std::string> typeOf_;
  std::map<std::string, std::vector<model::NodeName>> others_;
};

// The closest placement on nodes of one type of GPU: a gang is as fast as its slowest member, and
// libraries tune themselves to one type. Steps: the unrestricted placement, if it has one type; else each
// type by itself, and the tightest level wins. Ties: the type's name. `find` searches a placement;
// `beside`: the places of members that are placed already.
template <typename Find>
[[nodiscard]] std::optional<Placement> placeOnOneType(PlaceRequest request, const GpuTypes& types,
                                                      const Find& find,
                                                      const std::vector<model::Assignment>& beside = {}) {
  auto placement = find(request);
  const auto isMixed = [&](const Placement& found) {
    return types.straddles(*request.job, found.assignments, beside);
  };
  if (!placement || !isMixed(*placement)) return placement;
  placement.reset();
  const std::vector<model::NodeName> avoided = request.avoidNodes;
  for (const auto& [type, others] : types.others()) {
    request.avoidNodes = avoided;
    request.avoidNodes.insert(request.avoidNodes.end(), others.begin(), others.end());
    auto found = find(request);
    const bool better = found && (!placement || found->levelIndex > placement->levelIndex);
    if (better && !isMixed(*found)) placement = std::move(found);
  }
  return placement;
}

}  // namespace trainyard::core
