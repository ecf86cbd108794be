#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/draft.h"
#include "cli/convert/volcano_plugins.h"
#include "cli/convert/volcano_policies.h"
#include "cli/convert/volcano_tasks.h"
#include "codec/duration.h"

namespace trainyard::cli {
namespace {

class VolcanoJob {
 public:
  VolcanoJob(const Json& source, JobDraft& draft)
      : spec_(get(source, "spec")),
        tasks_(mergedTasks(get(spec_, "tasks"))),
        aborted_(get(source, "status", "state", "phase") == "Aborted"),
        plugins_(get(spec_, "plugins"), tasks_, draft),
        policies_(draft),
        draft_(draft),
        notes_(draft.notes()) {}

  void draft() {
    draft_.spec()["framework"] = plugins_.framework();
    for (const VolcanoTask& task : tasks_) addTask(task);
    addMinimum();
    plugins_.write();
    policies_.write(spec_, plugins_.framework());
    for (const auto& [role, retries] : retries_)
      notes_.changed(
          fmt::format("task {}: maxRetry {}: not carried over; spec.failure.maxRestarts, {}, counts for the "
                      "whole gang",
                      role, retries, valueText(get(draft_.failures().write(), "maxRestarts"))));
    draft_.takeQueue(get(spec_, "queue"), "spec.queue");
    copy(spec_, "priorityClassName", draft_.spec(), "priorityClassName");
    if (Json life = get(spec_, "ttlSecondsAfterFinished"); !life.is_null())
      draft_.set("run", "ttlSecondsAfterFinished", std::move(life));
    if (aborted_) {
      draft_.set("run", "suspend", true);
      notes_.kept("it is aborted until it is resumed: run.suspend");
    }
    addEstimate();
    addVolumes();
    if (const std::string scheduler = textOf(get(spec_, "schedulerName"));
        !scheduler.empty() && scheduler != "volcano" && scheduler != "default-scheduler")
      notes_.changed(fmt::format("spec.schedulerName {}: not carried over; the operator names the scheduler",
                                 scheduler));
    if (!get(spec_, "networkTopology").is_null())
      notes_.lost("spec.networkTopology: name a level in spec.locality (required: rack, for example)");
    notes_.noteUnknown(spec_, "spec", "spec");
  }

 private:
  void addTask(const VolcanoTask& task) {
    const std::string former = draft_.name().empty() ? "" : fmt::format("{}-{}", draft_.name(), task.name);
    const Json replicas = task.merged > 0 ? Json(task.merged) : get(task.task, "replicas");
    Json pod = get(task.task, "template");
    plugins_.prepare(task, pod);
    const RoleDraft* added = draft_.roles().add(plugins_.roleOf(task.name), replicas, std::move(pod));
    if (added == nullptr) return;
    const std::string role = added->name;
    RoleDraft& draft = *draft_.roles().find(role);
    if (plugins_.roleOf(task.name) != task.name)
      notes_.kept(fmt::format("task {} is role {}", task.name, role));
    if (task.merged > 0)
      notes_.kept(fmt::format("tasks {}-0 to {}-{} differ by their numbers only: one role", task.name,
                              task.name, task.merged - 1));
    for (const std::string& label : task.dropped)
      notes_.changed(
          fmt::format("task {}: label {} numbers the tasks, and is left out: trainyard.dev/index numbers "
                      "the members",
                      task.name, label));
    draft.original = task.name;
    if (task.name != role && !former.empty()) draft.formerPrefix = former;
    plugins_.added(task, role);
    policies_.addTask(task.task, role);
    if (!get(task.task, "dependsOn").is_null())
      notes_.changed(
          fmt::format("task {}: dependsOn: all roles start together; wait for the others in the pod", role));
    for (const char* key : {"topologyPolicy", "partitionPolicy"}) {
      if (!get(task.task, key).is_null()) notes_.lost(fmt::format("task {}.{}: not carried over", role, key));
    }
    const Json own = get(task.task, "minAvailable");
    const bool ofAll = own.is_null() || own == get(task.task, "replicas") || task.merged > 0;
    if (!ofAll && !hasMinimum())
      minimumOfTasks_ += countOf(own);
    else
      minimumOfTasks_ += countOf(replicas);
    if (!ofAll && hasMinimum())
      notes_.changed(
          fmt::format("task {}: minAvailable: spec.gang.minAvailable counts members of all roles", role));
    if (const Json retries = get(task.task, "maxRetry"); !retries.is_null())
      retries_.emplace_back(role, valueText(retries));
    notes_.noteUnknown(task.task, "spec.tasks[]", fmt::format("task {}", role));
  }

  // Volcano reads 0 as absent: the sum of the tasks' minimums, or of their replicas, is the minimum.
  [[nodiscard]] bool hasMinimum() const {
    const Json minimum = get(spec_, "minAvailable");
    return !minimum.is_null() && minimum != 0;
  }

  void addMinimum() {
    const Json given = get(spec_, "minAvailable");
    if (hasMinimum() && !given.is_number_integer()) return draft_.set("gang", "minAvailable", given);
    const std::int64_t minimum = hasMinimum() ? given.get<std::int64_t>() : minimumOfTasks_;
    if (minimum >= draft_.roles().members()) return;
    draft_.set("gang", "minAvailable", minimum);
    notes_.changed(fmt::format(
        "minAvailable {} of {}: spec.gang.minAvailable decides when the job starts; Volcano also takes it as "
        "completed when that many have succeeded, whatever became of the others",
        minimum, draft_.roles().members()));
  }

  void addEstimate() {
    const std::string text = textOf(get(spec_, "runningEstimate"));
    if (text.empty()) return;
    const auto estimate = codec::parseDuration(text);
    if (!estimate) return notes_.lost(fmt::format("spec.runningEstimate: {} is not a duration", text));
    draft_.set("estimate", "durationSeconds", std::max<std::int64_t>(estimate->count() / 1000, 1));
  }

  // All containers of the job mount its volumes.
  void addVolumes() {
    std::size_t number = 0;
    for (const Json& each : listOf(get(spec_, "volumes"))) {
      const std::string claim = textOf(get(each, "volumeClaimName"));
      if (claim.empty()) {
        notes_.cannotWork(
            "spec.volumes: the volume claim that Volcano would make is not made: make it, and name it in the "
            "templates");
        continue;
      }
      const std::string name = fmt::format("volume-{}", number++);
      Json patch = Json::object();
      Json volume = Json::object();
      volume["name"] = name;
      volume["persistentVolumeClaim"]["claimName"] = claim;
      patch["spec"]["volumes"] = Json::array({std::move(volume)});
      Json mount = Json::object();
      mount["name"] = name;
      mount["mountPath"] = get(each, "mountPath");
      for (RoleDraft& role : draft_.roles()) {
        mergeInto(role.pod, patch);
        forEachContainer(role.pod, [&](Json& container) {
          Json mounts = listOf(get(container, "volumeMounts"));
          mounts.push_back(mount);
          container["volumeMounts"] = std::move(mounts);
        });
      }
      notes_.kept(fmt::format("spec.volumes: claim {} is a volume of every template", claim));
    }
  }

  const Json spec_;
  const std::vector<VolcanoTask> tasks_;
  const bool aborted_;
  VolcanoPlugins plugins_;
  VolcanoPolicies policies_;
  JobDraft& draft_;
  ConversionNotes& notes_;
  std::int64_t minimumOfTasks_ = 0;
  std::vector<std::pair<std::string, std::string>> retries_;  // maxRetry of tasks, by role
};

}  // namespace

void draftVolcanoJob(const Json& source, JobDraft& draft) { VolcanoJob(source, draft).draft(); }

}  // namespace trainyard::cli
