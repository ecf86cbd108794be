#include "sim/api/discovery.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::sim {
namespace {

Json typeMeta(const std::string& kind, const std::string& apiVersion) {
  return {{"kind", kind}, {"apiVersion", apiVersion}};
}

Json resourceEntry(const ResourceType& type, const std::string& suffix, const Json& verbs) {
  Json entry = {{"name", type.name.plural + suffix},
                {"singularName", suffix.empty() ? type.singular : ""},
                {"namespaced", type.namespaced},
                {"kind", type.name.kind},
                {"verbs", verbs}};
  if (suffix.empty() && !type.shortNames.empty()) entry["shortNames"] = type.shortNames;
  return entry;
}

Json resourceList(const Registry& registry, const std::string& group, const std::string& version) {
  Json list = typeMeta("APIResourceList", "v1");
  list["groupVersion"] = group.empty() ? version : group + "/" + version;
  list["resources"] = Json::array();
  const Json verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  for (const auto& type : registry.all()) {
    if (type->name.group != group || type->version != version) continue;
    list["resources"].push_back(resourceEntry(*type, "", verbs));
    if (type->hasStatus)
      list["resources"].push_back(resourceEntry(*type, "/status", {"get", "patch", "update"}));
    if (!type->hasScale()) continue;
    Json scale = resourceEntry(*type, "/scale", {"get", "patch", "update"});
    scale.update({{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}});
    list["resources"].push_back(std::move(scale));
  }
  return list;
}

Json groupList(const Registry& registry) {
  Json list = typeMeta("APIGroupList", "v1");
  list["groups"] = Json::array();
  std::vector<std::string> seen;
  for (const auto& type : registry.all()) {
    if (type->name.group.empty() || std::find(seen.begin(), seen.end(), type->apiVersion()) != seen.end())
      continue;
    seen.push_back(type->apiVersion());
    const Json version = {{"groupVersion", type->apiVersion()}, {"version", type->version}};
    list["groups"].push_back(
        {{"name", type->name.group}, {"versions", Json::array({version})}, {"preferredVersion", version}});
  }
  return list;
}

}  // namespace

Outcome<Answer> discover(const Registry& registry, const ApiPath& path) {
  const auto& parts = path.segments;
  const std::string first = parts.empty() ? "" : parts[0];
  if (first == "healthz" || first == "readyz" || first == "livez") return Answer{200, "ok"};
  if (first == "version") {
    return Answer{
        200, {{"major", "1"}, {"minor", "36"}, {"gitVersion", "v1.36.3-sim"}, {"platform", "linux/amd64"}}};
  }
  if (first == "api" && parts.size() == 1) {
    Json versions = typeMeta("APIVersions", "v1");
    versions["versions"] = {"v1"};
    return Answer{200, std::move(versions)};
  }
  if (first == "apis" && parts.size() == 1) return Answer{200, groupList(registry)};
  const bool core = first == "api" && parts.size() == 2;
  if (core || (first == "apis" && parts.size() == 3)) {
    Json list = resourceList(registry, core ? "" : parts[1], parts.back());
    if (!list["resources"].empty()) return Answer{200, std::move(list)};
  }
  if (first == "apis" && parts.size() == 2) {
    const Json groups = groupList(registry);
    for (auto group : groups["groups"]) {
      if (group["name"] != parts[1]) continue;
      group.update(typeMeta("APIGroup", "v1"));
      return Answer{200, std::move(group)};
    }
  }
  return failPageNotFound();
}

}  // namespace trainyard::sim
