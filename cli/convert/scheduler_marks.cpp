#include "cli/convert/scheduler_marks.h"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

namespace trainyard::cli {
namespace {

// Returns true for keys that the system itself adds to pods; another function handles them.
bool isOwnFact(const std::string& key, const JobDraft& draft) {
  if (key == "volcano.sh/job-type") return true;  // in Volcano's examples; no program reads it
  const auto labels = draft.facts().labels;
  return std::any_of(labels.begin(), labels.end(), [&](const LabelFact& each) { return each.key == key; });
}

// A gang is preempted as a whole: if its pods differ, spec.preemptible is false.
void takePreemptable(const std::string& value, const std::string& origin, JobDraft& draft) {
  const bool stops = value == "true";
  const Json other = get(draft.spec(), "preemptible");
  if (!other.is_null() && other != stops)
    draft.notes().changed(
        fmt::format("{}: {}: others of the job have {}: spec.preemptible is false for all members", origin,
                    value, stops ? "false" : "true"));
  draft.spec()["preemptible"] = stops && (other.is_null() || other == true);
  draft.notes().kept(fmt::format("{}: {}: spec.preemptible", origin, value));
}

}  // namespace

bool isSchedulerMark(const std::string& key) {
  static const re2::RE2 kDomain(
      R"(^((.*\.)?volcano\.sh|scheduling\.k8s\.io|scheduling\.(sigs\.k8s|x-k8s)\.io|pod-group\.scheduling\.sigs\.k8s\.io|kai\.scheduler|runai|yunikorn\.apache\.org)/)");
  return re2::RE2::PartialMatch(key, kDomain);
}

bool isQueueMark(const std::string& key) {
  static const std::set<std::string, std::less<>> kQueues{"scheduling.volcano.sh/queue-name",
                                                          "volcano.sh/queue-name", "kai.scheduler/queue",
                                                          "runai/queue", "yunikorn.apache.org/queue"};
  return kQueues.contains(key);
}

void takeSchedulerMarks(Json& metadata, const std::string& origin, JobDraft& draft) {
  for (const char* part : {"labels", "annotations"}) {
    if (!get(metadata, part).is_object()) continue;
    std::vector<std::pair<std::string, Json>> marks;
    for (const auto& [key, value] : metadata[part].items()) {
      if (isSchedulerMark(key) && !isOwnFact(key, draft)) marks.emplace_back(key, value);
    }
    for (const auto& [key, value] : marks) {
      metadata[part].erase(key);
      const std::string what = fmt::format("{}: {} {}", origin, part, key);
      if (isQueueMark(key)) {
        draft.takeQueue(value, what);
      } else if (key == "volcano.sh/preemptable") {
        takePreemptable(valueText(value), what, draft);
      } else {
        draft.notes().lost(fmt::format("{}: {}: another scheduler reads it, and nothing here does", what,
                                       value.is_string() ? textOf(value) : value.dump()));
      }
    }
    if (metadata[part].empty()) metadata.erase(part);
  }
}

void takeVolcanoResources(const RoleDraft& role, JobDraft& draft) {
  Json pod = role.pod;
  forEachContainer(pod, [&](Json& container) {
    for (const char* part : {"limits", "requests"}) {
      const Json resources = get(container, "resources", part);
      for (const auto& [name, value] : resources.items()) {
        if (isSchedulerMark(name))
          draft.notes().cannotWork(
              fmt::format("role {}: resource {}: Volcano's scheduler alone gives it to pods: request "
                          "what a device plugin offers",
                          role.name, name));
      }
    }
  });
}

}  // namespace trainyard::cli
