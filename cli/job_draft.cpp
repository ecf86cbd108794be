#include "cli/job_draft.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/plain_text.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kRoleLetters = 16;
constexpr const char* kApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr const char* kQueueLabel = "kueue.x-k8s.io/queue-name";
constexpr const char* kPriorityLabel = "kueue.x-k8s.io/priority-class";

}  // namespace

void copy(const Json& from, const char* key, Json& to, const char* as) {
  if (Json value = get(from, key); !value.is_null()) to[as] = std::move(value);
}

std::string textOf(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

std::int64_t countOf(const Json& count) {
  constexpr std::int64_t kMost = 1'000'000;
  if (!count.is_number_integer()) return 1;
  return std::clamp<std::int64_t>(
      count.is_number_unsigned() && count > kMost ? kMost : count.get<std::int64_t>(), 0, kMost);
}

JobDraft::JobDraft(const Json& source) {
  job_["apiVersion"] = "trainyard.dev/v1alpha1";
  job_["kind"] = "TrainingJob";
  Json meta = Json::object();
  for (const char* key : {"name", "generateName", "namespace", "labels", "annotations"}) {
    copy(get(source, "metadata"), key, meta, key);
  }
  if (get(meta, "annotations").is_object()) meta["annotations"].erase(kApplied);
  if (get(meta, "annotations").empty()) meta.erase("annotations");
  takeName(meta);
  takeKueueLabels(meta);
  if (get(meta, "labels").empty()) meta.erase("labels");
  job_["metadata"] = std::move(meta);
}

void JobDraft::takeName(const Json& meta) {
  static const re2::RE2 kLabel("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
  const std::string name = textOf(get(meta, "name"));
  if (name.empty() || re2::RE2::FullMatch(name, kLabel)) return;
  note(
      "metadata.name: names of TrainingJobs are like those of Services, 63 letters, digits and \"-\" at "
      "most, first a letter: choose another one");
}

void JobDraft::takeKueueLabels(Json& meta) {
  const Json queue = get(meta, "labels", kQueueLabel);
  if (queue.is_string()) {
    spec_["queue"] = queue;
    meta["labels"].erase(kQueueLabel);
    note("label kueue.x-k8s.io/queue-name became spec.queue: a Queue of that name has to exist");
    ofKueue_ = true;
  }
  const std::string priority = textOf(get(meta, "labels", kPriorityLabel));
  if (priority.empty()) return;
  meta["labels"].erase(kPriorityLabel);
  note(
      fmt::format("label {}: \"{}\" is a WorkloadPriorityClass of Kueue: name a PriorityClass in "
                  "spec.priorityClassName",
                  kPriorityLabel, priority));
}

void JobDraft::note(std::string_view text) {
  std::string line = plainText(text, false);
  for (const char* separator : {"\u2028", "\u2029"}) {
    for (auto at = line.find(separator); at != std::string::npos; at = line.find(separator))
      line.replace(at, 3, " ");
  }
  notes_.push_back(std::move(line));
}

void JobDraft::noteRest(const Json& object, const std::string& path, const std::set<std::string>& read) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    if (read.count(key) == 0 && !value.is_null()) note(fmt::format("{}.{}: not carried over", path, key));
  }
}

std::string JobDraft::addRole(const std::string& original, const Json& replicas, Json pod) {
  if (replicas == 0) {
    note(fmt::format("task {} has no replicas: left out", original));
    return "";
  }
  const std::string name = roleName(original);
  if (name != original && !original.empty() &&
      !std::equal(name.begin(), name.end(), original.begin(), original.end(),
                  [](char a, char b) { return a == std::tolower(b); }))
    note(fmt::format("task {} is role {}: names of roles have letters and digits only", original, name));
  if (!pod.is_object()) pod = Json::object();
  dropRefused(name, pod);
  Json role = Json::object();
  role["name"] = name;
  role["replicas"] = replicas.is_number_integer() ? replicas : Json(1);
  role["template"] = std::move(pod);
  spec_["roles"].push_back(std::move(role));
  return name;
}

// [a-z][a-z0-9]*, at most 16: pods are named JOB-ROLE-INDEX.
std::string JobDraft::roleName(const std::string& original) {
  std::string name;
  for (const char each : original) {
    const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    const bool digit = letter >= '0' && letter <= '9';
    if ((letter >= 'a' && letter <= 'z') || (digit && !name.empty())) name += letter;
  }
  name = name.substr(0, kRoleLetters);
  if (name.empty()) name = "task";
  std::string unique = name;
  for (int next = 2; !taken_.insert(unique).second; ++next)
    unique = name.substr(0, kRoleLetters - 2) + std::to_string(next);
  return unique;
}

// What a template may not have (codec/pod_template.h).
void JobDraft::dropRefused(const std::string& role, Json& pod) {
  const auto drop = [&](Json& from, const char* path, const char* key) {
    if (from.is_object() && from.erase(key) > 0)
      note(fmt::format("role {}: {}.{}: not carried over; it is the operator's to set", role, path, key));
  };
  if (pod.contains("metadata")) drop(pod["metadata"], "template.metadata", "finalizers");
  Json& spec = pod["spec"];
  if (!spec.is_object()) return;
  for (const char* key : {"restartPolicy", "schedulerName"}) spec.erase(key);
  for (const char* key : {"nodeName", "hostname", "subdomain", "preemptionPolicy", "schedulingGates"})
    drop(spec, "template.spec", key);
}

std::int64_t JobDraft::members() const {
  std::int64_t all = 0;
  for (const Json& role : get(spec_, "roles")) all += countOf(get(role, "replicas"));
  return all;
}

void JobDraft::addSuspend(const Json& suspend, const char* path) {
  if (suspend.is_null()) return;
  if (ofKueue_ && suspend == true)
    return note(fmt::format("{}: left out, as Kueue may have set it; write run.suspend to keep it", path));
  spec_["run"]["suspend"] = suspend;
}

// A job and its pods have one priority, that of the spec.
void JobDraft::settlePriority() {
  Json roles = spec_["roles"];
  Json priority = get(spec_, "priorityClassName");
  for (Json& role : roles) {
    Json& pod = role["template"]["spec"];
    const Json own = get(pod, "priorityClassName");
    if (own.is_null()) continue;
    if (priority.is_null()) priority = own;
    if (own != priority)
      note(fmt::format("role {}: priorityClassName {}: not carried over; all members have the job's, {}",
                       textOf(role["name"]), textOf(own), textOf(priority)));
    pod.erase("priorityClassName");
  }
  spec_["roles"] = std::move(roles);
  if (!priority.is_null()) spec_["priorityClassName"] = std::move(priority);
}

base::Result<Converted> JobDraft::finish() {
  if (get(spec_, "roles").empty())
    return base::fail(base::ErrorCode::kInvalid, "it has no task that could become a role");
  if (restartsNever_ && !get(spec_, "failure").contains("maxRestarts")) spec_["failure"]["maxRestarts"] = 0;
  settlePriority();
  Json spec = Json::object();
  // In the order in which people read them.
  for (const char* key : {"framework", "queue", "priorityClassName", "roles", "elastic", "gang", "scheduling",
                          "locality", "run", "success", "failure"}) {
    copy(spec_, key, spec, key);
  }
  job_["spec"] = std::move(spec);
  return Converted{job_.dump(), std::move(notes_)};
}

}  // namespace trainyard::cli
