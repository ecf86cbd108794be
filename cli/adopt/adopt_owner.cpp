#include <fmt/format.h>

#include "cli/adopt/adopt_kinds.h"
#include "cli/adopt/gang_check.h"
#include "cli/adopt/owner_remarks.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

constexpr const char* kAsGang = "trainyard.dev/as-gang";

// Null if something on the way is no object.
Json* objectAt(Json& root, std::string_view path) {
  Json* value = &root;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    value = &(*value)[std::string(path.substr(0, dot))];
    if (!value->is_object() && !value->is_null()) return nullptr;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return value;
}

// One that had a queue already was suspended for Trainyard.
void suspendOwner(const model::OwnerKind& kind, Json& owner, const std::string& path, bool hadQueue,
                  Adoption& adoption) {
  Json* where = objectAt(owner, kind.suspendIn);
  if (where == nullptr) return adoption.cannotWork(fmt::format("{}: is no object", kind.suspendIn));
  const std::string field = fmt::format("{}{}{}.suspend", path, path.empty() ? "" : ".", kind.suspendIn);
  const Json was = get(*where, "suspend");
  (*where)["suspend"] = true;
  if (was == true && hadQueue) return;
  if (was == true)
    return adoption.changed(fmt::format(
        "{}: true: Trainyard starts it once it has nodes; `trainyard suspend` on its Gang holds it back",
        field));
  adoption.added(fmt::format("{}: true", field));
}

// A Job counts an evicted pod as a failure unless its policy says otherwise.
void ignorePreemption(Json& job, const std::string& path, Adoption& adoption) {
  if (textOf(get(job, "metadata", "annotations", "trainyard.dev/preemptible")) == "false") return;
  Json& spec = job["spec"];
  for (const Json& rule : listOf(get(spec, "podFailurePolicy", "rules"))) {
    if (textOf(get(rule, "action")) != "Ignore") continue;
    for (const Json& each : listOf(get(rule, "onPodConditions"))) {
      if (textOf(get(each, "type")) == "DisruptionTarget") return;
    }
  }
  const std::string field = placeOf(path, "spec.podFailurePolicy");
  if (textOf(get(spec, "template", "spec", "restartPolicy")) != "Never")
    return adoption.changed(fmt::format(
        "{}: each preemption of a pod counts against spec.backoffLimit: only with restartPolicy Never may "
        "a Job ignore the pod condition DisruptionTarget",
        field));
  Json& policy = spec["podFailurePolicy"];
  if (!policy["rules"].is_array()) policy["rules"] = Json::array();
  policy["rules"].insert(
      policy["rules"].begin(),
      Json{{"action", "Ignore"},
           {"onPodConditions", Json::array({Json{{"type", "DisruptionTarget"}, {"status", "True"}}})}});
  adoption.added(
      fmt::format("{}: a rule with action Ignore for onPodConditions type DisruptionTarget, status True: "
                  "a preempted pod is no failure",
                  field));
}

void adoptJob(const model::OwnerKind& kind, Json& owner, const std::string& path, Adoption& adoption) {
  if (isGang(kind, owner)) return;
  const Json pods = get(owner, "spec", "parallelism");
  const bool several = !pods.is_null() && pods != 1;
  if (several && adoption.asGang()) return adoption.addMark(owner, path, "annotations", kAsGang, "true");
  if (several) {
    const bool indexed = get(owner, "spec", "completionMode") == "Indexed";
    adoption.kept(placeOf(
        path, fmt::format("parallelism {} {}: each pod is placed by itself{}", pods.dump(),
                          indexed ? fmt::format("of {} completions", get(owner, "spec", "completions").dump())
                                  : std::string("without indices"),
                          indexed ? "" : "; with --as-gang they start together")));
  }
  ignorePreemption(owner, path, adoption);
}

// KubeRay suspends no RayJob without it. A RayCluster of others is not the RayJob's to delete.
void shutDownRayJob(Json& owner, Adoption& adoption) {
  const Json spec = get(owner, "spec");
  if (!spec.is_object() || get(spec, "shutdownAfterJobFinishes") == true ||
      !get(spec, "clusterSelector").is_null())
    return;
  owner["spec"]["shutdownAfterJobFinishes"] = true;
  adoption.changed(
      "spec.shutdownAfterJobFinishes: true: added, as KubeRay suspends no RayJob without it: the RayCluster "
      "is "
      "deleted once the job has ended");
}

}  // namespace

void adoptOwner(const model::OwnerKind& kind, Json& owner, const std::string& path, Adoption& adoption) {
  const std::string version = fmt::format("{}/{}", kind.group, kind.version);
  const std::string own = textOf(get(owner, "apiVersion"));
  if (!own.empty() && own != version)
    adoption.cannotWork(fmt::format("apiVersion {}: Trainyard reads {} {}: write that, if the cluster has it",
                                    own, kind.kind, version));
  adoption.takeQueue(textOf(get(owner, "spec", "runPolicy", "schedulingPolicy", "queue")),
                     placeOf(path, "spec.runPolicy.schedulingPolicy.queue"));
  if (kind.form == model::WorkloadForm::kJob) adoptJob(kind, owner, path, adoption);
  const bool hadQueue =
      !get(owner, "metadata", "labels", std::string(model::names::kQueueLabel).c_str()).is_null();
  adoption.writeWishes(owner, path);
  if (kind.kind == "RayJob") shutDownRayJob(owner, adoption);
  if (!kind.suspendIn.empty()) suspendOwner(kind, owner, path, hadQueue, adoption);
  const int pods = checkOwner(kind, owner, adoption);
  if (kind.form == model::WorkloadForm::kJob && !isGang(kind, owner))
    checkPods(
        "pod.pod",
        {{"worker", 1, get(owner, "spec", "template").dump(-1, ' ', false, Json::error_handler_t::replace)}},
        adoption);
  noteOwnerRemarks(kind.kind, owner, pods, adoption);
}

}  // namespace trainyard::cli
