#include "core/elastic/long_constraints.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard::core {

std::set<std::string> leftOut(std::vector<ComparedTemplate> templates, std::size_t nodes) {
  std::sort(templates.begin(), templates.end(), [](const ComparedTemplate& a, const ComparedTemplate& b) {
    return std::tie(a.cost, a.ns, a.key) < std::tie(b.cost, b.ns, b.key);
  });
  using Turn = std::tuple<std::int64_t, std::string, std::string>;
  std::map<std::string, std::int64_t> spentBy;
  std::vector<std::pair<Turn, std::int64_t>> turns;
  for (const ComparedTemplate& each : templates) {
    const std::int64_t work = each.cost * static_cast<std::int64_t>(nodes);
    if (work == 0) continue;
    turns.emplace_back(Turn(spentBy[each.ns] += work, each.ns, each.key), work);
  }
  std::sort(turns.begin(), turns.end());
  std::set<std::string> compared;
  std::int64_t left = kMaxCompared;
  for (const auto& [turn, work] : turns) {
    const std::string& key = std::get<2>(turn);
    if (work > left || !compared.insert(key).second) continue;
    left -= work;
  }
  std::set<std::string> out;
  for (const auto& [turn, work] : turns) {
    if (!compared.contains(std::get<2>(turn))) out.insert(std::get<2>(turn));
  }
  return out;
}

}  // namespace trainyard::core
