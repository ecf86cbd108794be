#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/job_draft.h"
#include "model/process_group.h"

namespace trainyard::cli {
namespace {

const std::string kLauncher(model::kLauncherRole);

class TrainJob {
 public:
  TrainJob(const Json& source, JobDraft& draft) : spec_(get(source, "spec")), draft_(draft) {}

  void draft() {
    const std::string runtime = textOf(get(spec_, "runtimeRef", "name"));
    const auto has = [&](const char* words) {
      return re2::RE2::PartialMatch(runtime, fmt::format("(^|[^a-z])({})([^a-z]|$)", words));
    };
    const bool overSsh = has("mpi|openmpi|intelmpi|mpich|deepspeed");
    draft_.spec()["framework"] = overSsh                          ? "MPI"
                                 : has("jax")                     ? "JAX"
                                 : has("torch|pytorch|torchtune") ? "PyTorch"
                                                                  : "Custom";
    const Json trainer = get(spec_, "trainer");
    Json container = Json::object();
    container["name"] = "node";
    container["image"] = "IMAGE";
    for (const char* key : {"image", "env"}) copy(trainer, key, container, key);
    if (overSsh) {
      Json launcher = container;
      for (const char* key : {"command", "args"}) copy(trainer, key, launcher, key);
      draft_.addRole(kLauncher, 1, podOf(std::move(launcher)));
      draft_.note(
          "role launcher runs the command and has no GPU; the workers' image needs sshd, which is started "
          "for them (docs/frameworks.md)");
    } else {
      for (const char* key : {"command", "args"}) copy(trainer, key, container, key);
    }
    copy(trainer, "resourcesPerNode", container, "resources");
    draft_.addRole("worker", get(trainer, "numNodes"), podOf(std::move(container)));
    if (get(trainer, "image").is_null())
      draft_.note("spec.trainer names no image: the runtime has it; put it in place of IMAGE");
    draft_.note(fmt::format(
        "what runtime \"{}\" adds (volumes, init containers, initializers, torch options) is not known here: "
        "compare with `kubectl get clustertrainingruntime {} -o yaml`",
        runtime, runtime));
    draft_.addSuspend(get(spec_, "suspend"), "spec.suspend");
    if (Json seconds = get(spec_, "activeDeadlineSeconds"); !seconds.is_null())
      draft_.spec()["run"]["activeDeadlineSeconds"] = seconds;
    if (!get(spec_, "initializer").is_null())
      draft_.note(
          "spec.initializer: load data and model in an init container of the template, or from a volume");
    for (const char* key : {"podTemplateOverrides", "runtimePatches"}) {
      if (!get(spec_, key).is_null()) draft_.note(fmt::format("spec.{}: write it into the template", key));
    }
    if (!get(trainer, "numProcPerNode").is_null())
      draft_.note(
          draft_.spec()["framework"] == "PyTorch"
              ? "spec.trainer.numProcPerNode: torchrun is told one process for each GPU of the container "
                "(PET_NPROC_PER_NODE)"
              : "spec.trainer.numProcPerNode: not carried over; the command says how many it starts");
    draft_.noteRest(trainer, "spec.trainer",
                    {"image", "command", "args", "env", "numNodes", "resourcesPerNode", "numProcPerNode"});
    for (const char* key : {"labels", "annotations"}) {
      if (!get(spec_, key).is_null())
        draft_.note(fmt::format("spec.{}: write them into the template's metadata", key));
    }
    draft_.noteRest(spec_, "spec",
                    {"runtimeRef", "trainer", "suspend", "activeDeadlineSeconds", "initializer",
                     "podTemplateOverrides", "runtimePatches", "labels", "annotations"});
  }

 private:
  static Json podOf(Json container) {
    Json pod = Json::object();
    pod["spec"]["containers"] = Json::array({std::move(container)});
    return pod;
  }

  const Json spec_;
  JobDraft& draft_;
};

}  // namespace

void draftTrainJob(const Json& source, JobDraft& draft) { TrainJob(source, draft).draft(); }

}  // namespace trainyard::cli
