#include <fmt/format.h>

#include "cli/job_draft.h"

namespace trainyard::cli {
namespace {

class PyTorchJob {
 public:
  PyTorchJob(const Json& source, JobDraft& draft) : spec_(get(source, "spec")), draft_(draft) {}

  void draft() {
    draft_.spec()["framework"] = "PyTorch";
    Json replicas = get(spec_, "pytorchReplicaSpecs");
    const Json elastic = get(spec_, "elasticPolicy");
    // Scaled to nothing, for the moment.
    if (!elastic.is_null() && get(replicas, "Worker", "replicas") == 0) {
      const Json least = get(elastic, "minReplicas");
      replicas["Worker"]["replicas"] = least.is_number_integer() && least > 0 ? least : Json(1);
      draft_.note("Worker.replicas is 0: the job begins with elasticPolicy.minReplicas");
    }
    for (const char* name : {"Master", "Worker"}) {
      const Json one = get(replicas, name);
      if (one.is_null()) continue;
      draft_.addRole(name, get(one, "replicas"), get(one, "template"));
      noteRestarts(get(one, "restartPolicy"), name);
      draft_.noteRest(one, fmt::format("spec.pytorchReplicaSpecs.{}", name),
                      {"replicas", "template", "restartPolicy"});
    }
    draft_.noteRest(spec_, "spec", {"pytorchReplicaSpecs", "elasticPolicy", "nprocPerNode", "runPolicy"});
    draft_.noteRest(replicas, "spec.pytorchReplicaSpecs", {"Master", "Worker"});
    if (!elastic.is_null() && !get(replicas, "Worker").is_null())
      addElastic(elastic, get(replicas, "Worker", "replicas"));
    if (!get(spec_, "nprocPerNode").is_null())
      draft_.note(
          "spec.nprocPerNode: torchrun is told one process for each GPU of the container "
          "(PET_NPROC_PER_NODE)");
    addRunPolicy(get(spec_, "runPolicy"));
    draft_.note(
        "RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and PET_* are set as before (docs/frameworks.md)");
  }

 private:
  void addElastic(const Json& policy, const Json& replicas) {
    Json elastic = Json::object();
    elastic["role"] = "worker";
    const Json size = replicas.is_number_integer() ? replicas : Json(1);
    elastic["replicas"] = size;
    elastic["minReplicas"] = get(policy, "minReplicas").is_null() ? size : get(policy, "minReplicas");
    elastic["maxReplicas"] = get(policy, "maxReplicas").is_null() ? size : get(policy, "maxReplicas");
    draft_.spec()["elastic"] = std::move(elastic);
    if (Json restarts = get(policy, "maxRestarts"); !restarts.is_null())
      draft_.spec()["failure"]["maxRestarts"] = restarts;
    for (const char* key : {"metrics", "rdzvBackend", "rdzvHost", "rdzvPort", "rdzvConf"}) {
      if (!get(policy, key).is_null())
        draft_.note(fmt::format(
            "spec.elasticPolicy.{}: not carried over; the rendezvous is c10d at rank 0, and who grows is "
            "decided by Trainyard",
            key));
    }
    draft_.noteRest(policy, "spec.elasticPolicy",
                    {"minReplicas", "maxReplicas", "maxRestarts", "metrics", "rdzvBackend", "rdzvHost",
                     "rdzvPort", "rdzvConf"});
  }

  void addRunPolicy(const Json& run) {
    for (const char* key : {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds"}) {
      if (Json value = get(run, key); !value.is_null()) draft_.spec()["run"][key] = value;
    }
    draft_.addSuspend(get(run, "suspend"), "runPolicy.suspend");
    if (Json limit = get(run, "backoffLimit");
        !limit.is_null() && !get(draft_.spec(), "failure").contains("maxRestarts"))
      draft_.spec()["failure"]["maxRestarts"] = limit;
    const Json scheduling = get(run, "schedulingPolicy");
    if (get(draft_.spec(), "queue").is_null()) copy(scheduling, "queue", draft_.spec(), "queue");
    copy(scheduling, "priorityClass", draft_.spec(), "priorityClassName");
    if (Json seconds = get(scheduling, "scheduleTimeoutSeconds"); !seconds.is_null())
      draft_.spec()["scheduling"]["timeoutSeconds"] = seconds;
    if (const Json least = get(scheduling, "minAvailable"); !least.is_null()) {
      if (get(draft_.spec(), "elastic").is_null()) {
        if (countOf(least) < draft_.members()) draft_.spec()["gang"]["minAvailable"] = least;
      } else {
        draft_.note("runPolicy.schedulingPolicy.minAvailable: spec.elastic says how small the job may be");
      }
    }
    draft_.noteRest(run, "runPolicy",
                    {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "suspend",
                     "backoffLimit", "schedulingPolicy"});
    draft_.noteRest(scheduling, "runPolicy.schedulingPolicy",
                    {"queue", "priorityClass", "scheduleTimeoutSeconds", "minAvailable"});
  }

  void noteRestarts(const Json& policy, const char* who) {
    const std::string text = textOf(policy);
    if (text == "ExitCode")
      draft_.note(fmt::format(
          "{}: restartPolicy ExitCode: failures are told apart by class; spec.failure.rules has exit codes",
          who));
    if (text == "Never") {
      draft_.restartNever();
      draft_.note(fmt::format(
          "{}: restartPolicy Never became failure.maxRestarts: 0, unless the job has a limit of its own; "
          "stops for other jobs and drained nodes are not counted",
          who));
    }
    if (text == "Always")
      draft_.note(fmt::format("{}: restartPolicy Always: a member that ends with 0 has succeeded", who));
  }

  const Json spec_;
  JobDraft& draft_;
};

}  // namespace

void draftPyTorchJob(const Json& source, JobDraft& draft) { PyTorchJob(source, draft).draft(); }

}  // namespace trainyard::cli
