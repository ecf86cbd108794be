#include "core/ledger/domains.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "model/names.h"

namespace trainyard::core {

Domains::Domains(const model::SharedList<model::Node>& nodes,
                 const std::vector<model::TopologyLevel>& levels) {
  build(nodes, levels);
}

Domains::Domains(const std::vector<const model::Node*>& nodes,
                 const std::vector<model::TopologyLevel>& levels) {
  build(nodes, levels);
}

template <typename Nodes>
void Domains::build(const Nodes& nodes, const std::vector<model::TopologyLevel>& levels) {
  levels_.push_back({});
  for (const model::TopologyLevel& level : levels) levels_.push_back({level.name, level.labelKey, 0, {}});
  const bool endsWithNode = levels_.back().labelKey == model::names::kHostnameLabel;
  if (!endsWithNode) levels_.push_back({"node", std::string(model::names::kHostnameLabel), 0, {}});

  steps_.reserve(nodes.size() * levels_.size());
  for (const auto& node : nodes) readSteps(*node);

  nodeAt_.resize(nodes.size());
  std::iota(nodeAt_.begin(), nodeAt_.end(), 0U);
  const auto stepsOf = [&](std::uint32_t node) {
    return steps_.begin() + static_cast<std::ptrdiff_t>(node * levels_.size());
  };
  const auto width = static_cast<std::ptrdiff_t>(levels_.size());
  // The last step is the node's name, which makes the order total.
  std::sort(nodeAt_.begin(), nodeAt_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(stepsOf(a), stepsOf(a) + width, stepsOf(b), stepsOf(b) + width);
  });
  positionOf_.resize(nodes.size());
  for (std::uint32_t position = 0; position < nodeAt_.size(); ++position)
    positionOf_[nodeAt_[position]] = position;
  findRanges();
}

void Domains::readSteps(const model::Node& node) {
  const std::size_t last = nodeLevel();
  const std::size_t first = steps_.size();
  steps_.resize(first + levels_.size());
  steps_[first + last] = {0, node.name.str()};
  if (node.labels.find(levels_[last].labelKey) != nullptr) ++levels_[last].labelled;
  // From the tightest level outwards, so that a missing step copies its stand-in.
  Step standIn{static_cast<std::uint32_t>(last), node.name.str()};
  for (std::size_t level = last; level-- > 1;) {
    const std::string* value = node.labels.find(levels_[level].labelKey);
    if (value == nullptr || value->empty()) {
      steps_[first + level] = standIn;
      continue;
    }
    ++levels_[level].labelled;
    steps_[first + level] = {0, *value};
    standIn = {static_cast<std::uint32_t>(level), *value};
  }
}

void Domains::findRanges() {
  const auto count = static_cast<std::uint32_t>(nodeAt_.size());
  for (std::uint32_t position = 0; position < count; ++position) {
    std::size_t level = 0;
    if (position > 0) {
      while (level < levels_.size() && step(level, position) == step(level, position - 1)) ++level;
    }
    for (std::size_t inner = 0; inner < level; ++inner) ++levels_[inner].domains.back().end;
    for (; level < levels_.size(); ++level) levels_[level].domains.push_back({position, position + 1});
  }
  if (count == 0) levels_[0].domains.push_back({0, 0});
}

std::optional<std::size_t> Domains::findLevel(std::string_view name) const {
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    if (levels_[level].name == name) return level;
  }
  return std::nullopt;
}

Domains::Range Domains::domainOf(std::size_t level, std::size_t position) const {
  const auto& domains = levels_[level].domains;
  const auto after =
      std::upper_bound(domains.begin(), domains.end(), position,
                       [](std::size_t wanted, const Range& range) { return wanted < range.begin; });
  return *std::prev(after);
}

std::string Domains::path(std::size_t level, std::size_t position) const {
  std::string path;
  for (std::size_t i = 1; i <= level; ++i) {
    const Step& part = step(i, position);
    if (part.source != 0 && i != level) continue;
    if (!path.empty()) path += '/';
    path += part.source == 0 ? part.text : fmt::format("({})", part.text);
  }
  return path;
}

}  // namespace trainyard::core
