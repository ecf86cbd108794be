#include "cli/adopt/foreign_marks.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/scheduler_marks.h"
#include "cli/convert/topology_keys.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kKueue = "kueue.x-k8s.io/";
constexpr std::array<std::string_view, 2> kRequiredLevels{"kueue.x-k8s.io/podset-required-topology",
                                                          "kai.scheduler/topology-required-placement"};
constexpr std::array<std::string_view, 2> kPreferredLevels{"kueue.x-k8s.io/podset-preferred-topology",
                                                           "kai.scheduler/topology-preferred-placement"};
// Of KAI, without a domain.
constexpr std::array<std::string_view, 3> kFractions{"gpu-fraction", "gpu-memory",
                                                     "gpu-fraction-num-devices"};
// They place pods of Gangs: kube-scheduler, and the second one that the chart may run.
constexpr std::array<std::string_view, 2> kOwnSchedulers{"default-scheduler", "trainyard-scheduler"};

template <std::size_t N>
bool isOneOf(const std::array<std::string_view, N>& names, const std::string& name) {
  for (const std::string_view each : names) {
    if (each == name) return true;
  }
  return false;
}

bool isForeignMark(const std::string& key) {
  return isSchedulerMark(key) || key.starts_with(kKueue) || key == "ray.io/scheduler-name" ||
         key == "ray.io/gang-scheduling-enabled" || key == "ray.io/priority-class-name";
}

void takeLevel(const std::string& topologyKey, const std::string& what, Adoption& adoption) {
  const auto level = levelOfKey(topologyKey);
  if (!level)
    return adoption.lost(fmt::format("{}: {}: removed: name the level in annotation trainyard.dev/locality",
                                     what, topologyKey));
  adoption.wish("trainyard.dev/locality", level->name);
  adoption.kept(fmt::format("{}: {}: annotation trainyard.dev/locality: {}{}", what, topologyKey, level->name,
                            level->usual ? "" : ", which the cluster's topology has to have"));
}

void takeMark(const std::string& key, const std::string& value, const std::string& what, Adoption& adoption) {
  if (isQueueMark(key) || key == "kueue.x-k8s.io/queue-name")
    return adoption.takeQueue(value, what + ", removed");
  if (key == "volcano.sh/preemptable") {
    adoption.wish("trainyard.dev/preemptible", value == "true" ? "true" : "false");
    return adoption.kept(fmt::format("{}: {}: annotation trainyard.dev/preemptible", what, value));
  }
  if (isOneOf(kRequiredLevels, key)) return takeLevel(value, what, adoption);
  if (isOneOf(kPreferredLevels, key))
    return adoption.kept(fmt::format("{}: removed: the closest nodes are chosen in any case", what));
  if (key == "kueue.x-k8s.io/priority-class")
    return adoption.lost(
        fmt::format("{}: {}: removed: it is a WorkloadPriorityClass of Kueue: write priorityClassName into "
                    "the pod template",
                    what, value));
  adoption.lost(
      fmt::format("{}: {}: removed: another scheduler reads it, and nothing here does", what, value));
}

void takeMarks(Json& part, const std::string& path, Adoption& adoption) {
  bool any = false;
  for (const char* list : {"labels", "annotations"}) {
    if (!get(part, "metadata", list).is_object()) continue;
    Json& all = part["metadata"][list];
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [key, value] : all.items()) {
      if (isForeignMark(key)) found.emplace_back(key, value.is_string() ? textOf(value) : value.dump());
      if (isOneOf(kFractions, key))
        adoption.cannotWork(placeOf(path, fmt::format("{}: a part of a GPU: pods get whole ones here", key)));
    }
    for (const auto& [key, value] : found) {
      all.erase(key);
      const std::string_view kind = std::string_view(list) == "labels" ? "label" : "annotation";
      takeMark(key, value, placeOf(path, fmt::format("{} {}", kind, key)), adoption);
    }
    any = any || !found.empty();
    if (!found.empty() && all.empty()) part["metadata"].erase(list);
  }
  if (any && part["metadata"].empty()) part.erase("metadata");
}

void takeResources(Json& pod, const std::string& path, Adoption& adoption) {
  forEachContainer(pod, [&](Json& container) {
    for (const char* part : {"limits", "requests"}) {
      const Json resources = get(container, "resources", part);
      for (const auto& [name, value] : resources.items()) {
        if (isSchedulerMark(name))
          adoption.cannotWork(placeOf(path, fmt::format("resource {}: Volcano's scheduler alone gives it to "
                                                        "pods: request what a device plugin offers",
                                                        name)));
      }
    }
  });
}

void takePodSpec(Json& pod, const std::string& path, Adoption& adoption) {
  const std::string spec = path.empty() ? "spec" : path + ".spec";
  const std::string scheduler = textOf(get(pod, "spec", "schedulerName"));
  if (!scheduler.empty() && !isOneOf(kOwnSchedulers, scheduler)) {
    pod["spec"].erase("schedulerName");
    adoption.changed(fmt::format(
        "{}.schedulerName: {}: removed: kube-scheduler binds the pods, on the nodes that Trainyard assigns",
        spec, scheduler));
  }
  for (const char* key : {"schedulingGroup", "workloadRef"}) {
    const Json group = get(pod, "spec", key);
    if (group.is_null()) continue;
    pod["spec"].erase(key);
    adoption.changed(fmt::format(
        "{}.{}: {}: removed: kube-scheduler would wait for that group, too; a Gang starts together", spec,
        key, group.dump()));
  }
  if (const std::string node = textOf(get(pod, "spec", "nodeName")); !node.empty())
    adoption.cannotWork(fmt::format(
        "{}.nodeName: {}: the API server refuses it beside a gate: remove it, and create a pod that exists "
        "again",
        spec, node));
  takeResources(pod, path, adoption);
}

}  // namespace

void takeForeignMarks(Adoption& adoption) {
  forEachPart(adoption.object(), [&](Json& part, const std::string& path) {
    takeMarks(part, path, adoption);
    if (isPodTemplate(part)) takePodSpec(part, path, adoption);
  });
}

}  // namespace trainyard::cli
