#include "cli/convert/foreign_job.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/convert/system_facts.h"
#include "cli/plain_text.h"

namespace trainyard::cli {
namespace {

using SortedJson = nlohmann::json;

// Empty if the field is missing or not a text.
std::string textAt(const SortedJson& object, const char* path) {
  const SortedJson::json_pointer pointer(path);
  return object.contains(pointer) && object[pointer].is_string() ? object[pointer].get<std::string>()
                                                                 : std::string();
}

ForeignJob read(const SortedJson& object) {
  const std::string api = textAt(object, "/apiVersion");
  const auto slash = api.find('/');
  ForeignJob job{.kind = textAt(object, "/kind"),
                 .group = slash == std::string::npos ? "" : api.substr(0, slash)};
  // Pods of a Job without indices need not start together.
  const bool isAlone = job.group == "batch" && textAt(object, "/spec/completionMode") != "Indexed";
  // A RayJob in the RayCluster of another object has no pods.
  const bool isGuest = object.contains(SortedJson::json_pointer("/spec/clusterSelector"));
  job.known = factsOf(job.kind, job.group) != nullptr && !isAlone && !isGuest;
  return job;
}

bool hasEnded(const SortedJson& object) {
  for (const char* phase : {"Completed", "Failed", "Terminated"}) {
    if (textAt(object, "/status/state/phase") == phase) return true;
  }
  for (const char* phase : {"Succeeded", "Failed"}) {
    if (textAt(object, "/status/phase") == phase) return true;  // of a Pod
  }
  for (const char* state : {"Complete", "Failed"}) {
    if (textAt(object, "/status/jobDeploymentStatus") == state) return true;  // of a RayJob
  }
  const SortedJson::json_pointer conditions("/status/conditions");
  if (!object.contains(conditions) || !object[conditions].is_array()) return false;
  return std::any_of(object[conditions].begin(), object[conditions].end(), [](const SortedJson& each) {
    const std::string type = textAt(each, "/type");
    static const std::set<std::string, std::less<>> kEnds{"Succeeded", "Failed", "Complete", "Completed"};
    return kEnds.contains(type) && textAt(each, "/status") == "True";
  });
}

}  // namespace

ForeignJob foreignJob(const std::string& json) { return read(SortedJson::parse(json, nullptr, false)); }

bool staysAsItIs(const std::string& json) {
  const SortedJson object = SortedJson::parse(json, nullptr, false);
  const ForeignJob job = read(object);
  if (textAt(object, "/apiVersion").empty() || job.kind.empty() || job.known) return false;
  const bool ofKubernetes = job.group.find('.') == std::string::npos || job.group.ends_with(".k8s.io");
  static const std::set<std::string, std::less<>> kJobsOfOthers{
      "AppWrapper",      "JobSet", "LeaderWorkerSet", "RayCluster", "RayService", "ScheduledSparkApplication",
      "SparkApplication"};
  if (kJobsOfOthers.contains(job.kind)) return false;
  return ofKubernetes || !job.kind.ends_with("Job");
}

std::string heldByOthers(const std::string& json) {
  const SortedJson object = SortedJson::parse(json, nullptr, false);
  constexpr std::string_view kPointer = "kueue.x-k8s.io~1queue-name";
  for (const char* meta : {"/metadata", "/spec/template/metadata", "/spec/jobTemplate/spec/template/metadata",
                           "/spec/jobTemplate/metadata"}) {
    const std::string queue = textAt(object, fmt::format("{}/labels/{}", meta, kPointer).c_str());
    if (queue.empty()) continue;
    return fmt::format(
        "label kueue.x-k8s.io/queue-name: {}: Kueue goes on queueing it; `trainyard adopt` has Trainyard "
        "queue it",
        queue);
  }
  for (const char* spec : {"/spec", "/spec/template/spec", "/spec/jobTemplate/spec/template/spec"}) {
    if (textAt(object, fmt::format("{}/schedulerName", spec).c_str()) == "volcano")
      return "schedulerName volcano: Volcano goes on placing its pods, and asks no other scheduler";
  }
  return "";
}

std::string whyLeftOut(const std::string& json) { return foreignJob(json).known ? whyOver(json) : ""; }

std::string whyOver(const std::string& json) {
  const SortedJson object = SortedJson::parse(json, nullptr, false);
  const bool leaves = !textAt(object, "/metadata/deletionTimestamp").empty();
  if (!leaves && !hasEnded(object)) return "";
  return plainText(fmt::format("{} {} {}: left out", textAt(object, "/kind"),
                               textAt(object, "/metadata/name"), leaves ? "is being deleted" : "has ended"),
                   false);
}

}  // namespace trainyard::cli
