#include "cli/convert/draft.h"

#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/scheduler_marks.h"
#include "cli/convert/ssh_launch.h"
#include "cli/convert/template.h"
#include "cli/convert/variables.h"

namespace trainyard::cli {
namespace {

constexpr const char* kApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr const char* kQueueLabel = "kueue.x-k8s.io/queue-name";
constexpr const char* kPriorityLabel = "kueue.x-k8s.io/priority-class";

}  // namespace

JobDraft::JobDraft(const Json& source, const SystemFacts& facts, const Companions& companions)
    : facts_(facts), companions_(companions), notes_(facts), roles_(facts, notes_) {
  job_["apiVersion"] = "trainyard.dev/v1alpha1";
  job_["kind"] = "TrainingJob";
  Json meta = Json::object();
  for (const char* key : {"name", "generateName", "namespace", "labels", "annotations"}) {
    copy(get(source, "metadata"), key, meta, key);
  }
  if (get(meta, "annotations").is_object()) meta["annotations"].erase(kApplied);
  if (get(meta, "annotations").empty()) meta.erase("annotations");
  for (const char* key : {"ownerReferences", "finalizers"}) {
    if (!get(source, "metadata", key).empty())
      notes_.lost(fmt::format("metadata.{}: not carried over: the TrainingJob belongs to nothing else", key));
  }
  takeName(meta);
  takeKueueLabels(meta);
  if (get(meta, "labels").empty()) meta.erase("labels");
  ns_ = textOf(get(meta, "namespace"));
  job_["metadata"] = std::move(meta);
}

void JobDraft::takeName(const Json& meta) {
  static const re2::RE2 kLabel("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
  name_ = textOf(get(meta, "name"));
  if (name_.empty() || isPlaceholder(Json(name_)) || re2::RE2::FullMatch(name_, kLabel)) return;
  notes_.cannotWork(
      "metadata.name: names of TrainingJobs are like those of Services, 63 letters, digits and \"-\" at "
      "most, first a letter: choose another one");
}

void JobDraft::takeKueueLabels(Json& meta) {
  const Json queue = get(meta, "labels", kQueueLabel);
  if (queue.is_string()) {
    spec_["queue"] = queue;
    meta["labels"].erase(kQueueLabel);
    notes_.kept("label kueue.x-k8s.io/queue-name became spec.queue: a Queue of that name has to exist");
    ofKueue_ = true;
  }
  const std::string priority = textOf(get(meta, "labels", kPriorityLabel));
  if (priority.empty()) return;
  meta["labels"].erase(kPriorityLabel);
  notes_.lost(
      fmt::format("label {}: \"{}\" is a WorkloadPriorityClass of Kueue: name a PriorityClass in "
                  "spec.priorityClassName",
                  kPriorityLabel, priority));
}

std::string JobDraft::hostOf(std::string_view role, std::int64_t index) const {
  const std::string job = name_.empty() ? "$(TRAINYARD_JOB)" : name_;
  return fmt::format("{}-{}-{}.{}", job, role, index, job);
}

bool JobDraft::mentions(const std::string& pattern) const {
  const re2::RE2 expression(pattern);
  bool found = false;
  for (const RoleDraft& role : roles_) {
    Json pod = role.pod;
    forEachText(pod, [&](std::string& text) { found = found || re2::RE2::PartialMatch(text, expression); });
  }
  for (const std::string& text : scriptsOf(companions_))
    found = found || re2::RE2::PartialMatch(text, expression);
  return found;
}

void JobDraft::takeQueue(const Json& queue, const std::string& origin) {
  const std::string name = textOf(queue);
  const Json other = get(spec_, "queue");
  if (name.empty() || queue == other) return;
  if (!other.is_null())
    return notes_.lost(
        fmt::format("{}: {}: not carried over; spec.queue is {}", origin, name, textOf(other)));
  spec_["queue"] = queue;
  notes_.kept(fmt::format("{}: {} became spec.queue: a Queue of that name has to exist", origin, name));
}

void JobDraft::addSuspend(const Json& suspend, const char* path) {
  if (suspend.is_null()) return;
  if (ofKueue_ && suspend == true)
    return notes_.changed(
        fmt::format("{}: left out, as Kueue may have set it; write run.suspend to keep it", path));
  spec_["run"]["suspend"] = suspend;
}

std::string JobDraft::takeAnnotation(const char* key) {
  std::string value = textOf(get(job_, "metadata", "annotations", key));
  if (value.empty()) return value;
  Json& meta = job_["metadata"];
  meta["annotations"].erase(key);
  if (meta["annotations"].empty()) meta.erase("annotations");
  return value;
}

// A job and its pods have one priority, that of the spec.
void JobDraft::settlePriority() {
  Json priority = get(spec_, "priorityClassName");
  for (RoleDraft& role : roles_) {
    const Json own = get(role.pod, "spec", "priorityClassName");
    if (own.is_null()) continue;
    if (priority.is_null()) priority = own;
    if (own != priority)
      notes_.changed(
          fmt::format("role {}: priorityClassName {}: not carried over; all members have the job's, {}",
                      role.name, textOf(own), textOf(priority)));
    role.pod["spec"].erase("priorityClassName");
  }
  if (!priority.is_null()) spec_["priorityClassName"] = std::move(priority);
}

// Replaces the former names of members in texts by their names in the converted job.
void JobDraft::renameMembers() {
  for (const RoleDraft& renamed : roles_) {
    if (renamed.formerPrefix.empty() || name_.empty()) continue;
    const std::string former = re2::RE2::QuoteMeta(renamed.formerPrefix);
    const re2::RE2 expression(fmt::format(R"((^|[^-\w]){}-(\d+|\$))", former));
    const std::string now = fmt::format(R"(\1{}-{}-\2)", name_, renamed.name);
    bool found = false;
    for (RoleDraft& role : roles_) {
      forEachText(role.pod, [&](std::string& text) {
        found = re2::RE2::GlobalReplace(&text, expression, now) > 0 || found;
      });
    }
    if (found)
      notes_.kept(
          fmt::format("members {}-N are called {}-{}-N: texts of the templates that name one are rewritten",
                      renamed.formerPrefix, name_, renamed.name));
    for (const std::string& text : scriptsOf(companions_)) {
      if (!re2::RE2::PartialMatch(text, expression)) continue;
      notes_.cannotWork(
          fmt::format("a ConfigMap names members {}-N, which are called {}-{}-N: write that there",
                      renamed.formerPrefix, name_, renamed.name));
    }
  }
}

base::Result<Converted> JobDraft::finish() {
  if (roles_.empty()) return base::fail(base::ErrorCode::kInvalid, "it has no task that could become a role");
  if (Json failure = failures_.write(); !failure.is_null()) spec_["failure"] = std::move(failure);
  takeSchedulerMarks(job_["metadata"], "the job", *this);
  settlePriority();
  renameMembers();
  if (launchesOverSsh(textOf(get(spec_, "framework")))) noteOwnSsh(*this);
  TemplateCleaner cleaner(*this);
  for (RoleDraft& role : roles_) {
    cleaner.clean(role);
    writeVariables(role, *this);
  }
  cleaner.settle();
  for (RoleDraft& each : roles_) {
    Json role = Json::object();
    role["name"] = each.name;
    role["replicas"] = each.replicas;
    role["template"] = std::move(each.pod);
    spec_["roles"].push_back(std::move(role));
  }
  Json spec = Json::object();
  // In the order in which people read the fields.
  for (const char* key : {"framework", "queue", "priorityClassName", "preemptible", "roles", "elastic",
                          "gang", "scheduling", "locality", "estimate", "run", "success", "failure"}) {
    copy(spec_, key, spec, key);
  }
  job_["spec"] = std::move(spec);
  Converted converted{job_.dump(-1, ' ', false, Json::error_handler_t::replace)};
  for (Json& each : objects_) {
    if (!ns_.empty()) each["metadata"]["namespace"] = ns_;
    converted.objects.push_back(each.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  converted.notes = notes_.take();
  return converted;
}

}  // namespace trainyard::cli
