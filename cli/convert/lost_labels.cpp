#include "cli/convert/lost_labels.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace trainyard::cli {
namespace {

using SortedJson = nlohmann::json;

// Returns Prometheus' name: "__meta_kubernetes_pod_label_training_kubeflow_org_replica_index".
std::string metaLabel(std::string_view key) {
  std::string name = "__meta_kubernetes_pod_label_";
  for (const char each : key) name += std::isalnum(static_cast<unsigned char>(each)) != 0 ? each : '_';
  return name;
}

bool isSelector(const std::string& key) { return key == "matchLabels" || key.ends_with("elector"); }

// A key without a domain may mean something else, unless it is in a selector.
bool names(const SortedJson& value, std::string_view key, bool selects) {
  const bool qualified = key.find('/') != std::string_view::npos;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return ((qualified || selects) && text == key) || text.find(metaLabel(key)) != std::string::npos;
  }
  if (value.is_array())
    return std::any_of(value.begin(), value.end(),
                       [&](const SortedJson& each) { return names(each, key, selects); });
  if (!value.is_object()) return false;
  for (const auto& [name, inner] : value.items()) {
    if (selects && name == key) return true;
    if (names(inner, key, selects ? name != "values" : isSelector(name))) return true;
  }
  return false;
}

std::string replacementOf(std::string_view path) {
  const auto from = path.find('\'');
  const auto to = path.rfind('\'');
  if (from == std::string_view::npos || from == to) return {};
  return std::string(path.substr(from + 1, to - from - 1));
}

}  // namespace

std::vector<std::string> lostLabels(const std::string& json, const SystemFacts& facts) {
  const SortedJson object = SortedJson::parse(json, nullptr, false);
  std::vector<std::string> lost;
  if (!object.is_object() || !object.contains("spec")) return lost;
  for (const LabelFact& each : facts.labels) {
    if (!each.isLabel || !each.onlyRole.empty() || (!each.value.empty() && !each.onlyIfRead)) continue;
    if (!names(object["spec"], each.key, false)) continue;
    const std::string instead = replacementOf(each.path);
    lost.push_back(fmt::format("it names label {}, which members of the TrainingJob do not have{}", each.key,
                               instead.empty() ? "" : fmt::format(": write {}", instead)));
  }
  return lost;
}

}  // namespace trainyard::cli
