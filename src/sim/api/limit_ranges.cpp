#include <map>

#include <fmt/format.h>

#include "base/quantity.h"
#include "sim/api/pods.h"

namespace trainyard::sim {
namespace {

std::optional<base::Quantity> amount(const Json& object, std::initializer_list<std::string_view> path) {
  const auto parsed = base::Quantity::parse(textAt(object, path));
  if (!parsed) return std::nullopt;
  return *parsed;
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

// Returns what was set: "cpu, memory request for container c".
std::string fill(Json& container, const char* kind, const Json& defaults, const char* word) {
  std::vector<std::string> set;
  for (const auto& [resource, value] : defaults.items()) {
    if (findPath(container, {"resources", kind, resource}) != nullptr) continue;
    container["resources"][kind][resource] = value;
    set.push_back(resource);
  }
  if (set.empty()) return {};
  return fmt::format("{} {} for container {}", joined(set, ", "), word, textAt(container, {"name"}));
}

void defaultResources(const std::vector<const Json*>& ranges, Json& pod) {
  // If several ranges name a resource, the last one decides, for limits and requests alike.
  Json limits = Json::object();
  Json requests = Json::object();
  for (const Json* range : ranges) {
    for (const auto& item : listAt(*range, {"spec", "limits"})) {
      if (textAt(item, {"type"}) != "Container") continue;
      limits.update(objectAt(item, {"default"}));
      requests.update(objectAt(item, {"defaultRequest"}));
    }
  }
  std::vector<std::string> notes;
  for (const char* list : {"containers", "initContainers"}) {
    const auto containers = pod["spec"].find(list);
    if (containers == pod["spec"].end() || !containers->is_array()) continue;
    for (auto& container : *containers) {
      const bool init = std::string_view(list) == "initContainers";
      for (auto note :
           {fill(container, "requests", requests, "request"), fill(container, "limits", limits, "limit")}) {
        if (note.empty()) continue;
        if (init) note.replace(note.find(" for container "), 15, " for init container ");
        notes.push_back(note);
      }
    }
  }
  if (!notes.empty()) {
    pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"] =
        "LimitRanger plugin set: " + joined(notes, "; ");
  }
}

std::string checkBounds(const Json& item, const Json& resources, const std::string& what) {
  for (const auto& [resource, value] : objectAt(item, {"min"}).items()) {
    const auto least = amount(item, {"min", resource});
    const auto request = amount(resources, {"requests", resource});
    const auto limit = amount(resources, {"limits", resource});
    if (!request)
      return fmt::format("minimum {} usage per {} is {}. No request is specified", resource, what,
                         value.get<std::string>());
    if (*request < *least)
      return fmt::format("minimum {} usage per {} is {}, but request is {}", resource, what,
                         value.get<std::string>(), textAt(resources, {"requests", resource}));
    if (limit && *limit < *least)
      return fmt::format("minimum {} usage per {} is {}, but limit is {}", resource, what,
                         value.get<std::string>(), textAt(resources, {"limits", resource}));
  }
  for (const auto& [resource, value] : objectAt(item, {"max"}).items()) {
    const auto most = amount(item, {"max", resource});
    const auto request = amount(resources, {"requests", resource});
    const auto limit = amount(resources, {"limits", resource});
    if (!limit)
      return fmt::format("maximum {} usage per {} is {}. No limit is specified", resource, what,
                         value.get<std::string>());
    if (*limit > *most)
      return fmt::format("maximum {} usage per {} is {}, but limit is {}", resource, what,
                         value.get<std::string>(), textAt(resources, {"limits", resource}));
    if (request && *request > *most)
      return fmt::format("maximum {} usage per {} is {}, but request is {}", resource, what,
                         value.get<std::string>(), textAt(resources, {"requests", resource}));
  }
  return {};
}

}  // namespace

Outcome<void> applyLimitRanges(const AdmissionView& view, Json& pod) {
  const auto ranges = view.list("limitranges", textAt(pod, {"metadata", "namespace"}));
  if (ranges.empty()) return {};
  defaultResources(ranges, pod);
  for (const Json* range : ranges) {
    for (const auto& item : listAt(*range, {"spec", "limits"})) {
      if (textAt(item, {"type"}) != "Container") continue;
      for (const char* list : {"containers", "initContainers"}) {
        for (const auto& container : listAt(pod, {"spec", list})) {
          const std::string problem = checkBounds(item, objectAt(container, {"resources"}), "Container");
          if (!problem.empty())
            return failForbidden({"", "pods", "Pod"}, textAt(pod, {"metadata", "name"}), problem);
        }
      }
    }
  }
  return {};
}

}  // namespace trainyard::sim
