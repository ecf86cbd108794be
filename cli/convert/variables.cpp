#include "cli/convert/variables.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace trainyard::cli {
namespace {

// The other system appends its variables to those of containers; init containers keep their own.
void dropOverwritten(RoleDraft& role, JobDraft& draft) {
  if (role.overwritten.empty() || !get(role.pod, "spec", "containers").is_array()) return;
  std::set<std::string> dropped;
  for (Json& container : role.pod["spec"]["containers"]) {
    if (!get(container, "env").is_array()) continue;
    std::erase_if(container["env"].get_ref<Json::array_t&>(), [&](const Json& each) {
      const std::string name = textOf(get(each, "name"));
      if (!role.overwritten.contains(name)) return false;
      dropped.insert(name);
      return true;
    });
    if (container["env"].empty()) container.erase("env");
  }
  for (const std::string& name : dropped)
    draft.notes().kept(fmt::format(
        "role {}: variable {} of the template: left out, as it never counted: {} sets its own after "
        "it",
        role.name, name, draft.facts().system));
}

void addVariables(const RoleDraft& role, Json& container) {
  const Json own = listOf(get(container, "env"));
  Json env = Json::array();
  for (const auto& [name, value] : role.variables) {
    const bool set = std::any_of(own.begin(), own.end(), [&, &wanted = name](const Json& each) {
      return textOf(get(each, "name")) == wanted;
    });
    if (set) continue;
    Json variable = Json::object();
    variable["name"] = name;
    variable["value"] = value;
    env.push_back(std::move(variable));
  }
  for (const Json& each : own) env.push_back(each);
  if (!env.empty()) container["env"] = std::move(env);
}

}  // namespace

void writeVariables(RoleDraft& role, JobDraft& draft) {
  dropOverwritten(role, draft);
  for (const VariableFact& each : draft.facts().variables)
    role.variables.emplace_back(std::string(each.name), std::string(each.value));
  if (role.variables.empty()) return;
  forEachContainer(role.pod, [&](Json& container) { addVariables(role, container); });
}

}  // namespace trainyard::cli
