#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/draft.h"
#include "cli/convert/kubeflow_job.h"
#include "cli/convert/ssh_launch.h"

namespace trainyard::cli {
namespace {

constexpr int kLauncherRetries = 6;  // backoffLimit of a Job
constexpr const char* kMpiSpecs = "mpiReplicaSpecs";
// In v1 the launcher is a pod, and in other versions the pod of a Job.
constexpr KubeflowKind kOfPods{kMpiSpecs, "Never"};
constexpr KubeflowKind kOfLauncherJob{kMpiSpecs, "Never", kLauncherRetries};

class MpiJob {
 public:
  MpiJob(const Json& source, JobDraft& draft)
      : version_(textOf(get(source, "apiVersion"))),
        spec_(withRunPolicy(get(source, "spec"))),
        draft_(draft),
        notes_(draft.notes()),
        job_(isOf("v1") ? kOfPods : kOfLauncherJob, spec_, draft) {}

  void draft() {
    job_.addRoles({"Launcher", "Worker"});
    draft_.spec()["framework"] = draft_.mentions(R"(\bhorovodrun\b)") ? "Horovod" : "MPI";
    job_.noteRestarts();
    job_.addRunPolicy(true);
    job_.addMemberNames("worker");
    RoleDraft* launcher = draft_.roles().find("launcher");
    RoleDraft* worker = draft_.roles().find("worker");
    if (launcher == nullptr)
      return notes_.cannotWork("there is no Launcher: no member would start the processes");
    if (worker != nullptr) {
      addWorker(*launcher, *worker);
      noteSlotsOf(*worker);
    }
    moveHostFile(draft_, implementation());
    addVariables();
    if (!isOf("v2beta1"))
      notes_.changed(
          "processes are started over ssh, not by kubectl exec: the launcher's image needs an ssh client, "
          "the "
          "workers' image sshd");
  }

 private:
  [[nodiscard]] bool isOf(std::string_view version) const {
    return version_ == fmt::format("kubeflow.org/{}", version);
  }

  // Older versions have fields of the run policy beside it.
  Json withRunPolicy(Json spec) const {
    if (!spec.is_object()) return spec;
    for (const char* key : {"cleanPodPolicy", "backoffLimit", "activeDeadlineSeconds"}) {
      if (Json value = get(spec, key); !value.is_null() && get(spec, "runPolicy", key).is_null())
        spec["runPolicy"][key] = std::move(value);
      spec.erase(key);
    }
    if (!isOf("v2beta1") || !get(spec, kMpiSpecs).is_object()) return spec;
    for (auto& [key, part] : spec[kMpiSpecs].items()) {
      if ((key == "Worker" || key == "worker") && part.is_object() && !part.contains("replicas"))
        part["replicas"] = 0;
    }
    return spec;
  }

  [[nodiscard]] std::string implementation() const {
    const std::string own = textOf(get(spec_, "mpiImplementation"));
    return own.empty() ? textOf(get(spec_, "mpiDistribution")) : own;
  }

  // The operator starts sshd in the first container.
  void addWorker(RoleDraft& launcher, RoleDraft& worker) {
    const Json containers = listOf(get(worker.pod, "spec", "containers"));
    if (!containers.empty())
      dropServerCommand(worker.pod["spec"]["containers"][0], "role worker: its command", draft_);
    if (get(spec_, "runLauncherAsWorker") != true) return;
    if (worker.replicas.is_number_integer()) worker.replicas = countOf(worker.replicas) + 1;
    forEachContainer(launcher.pod, [](Json& container) { container.erase("resources"); });
    notes_.changed(
        "runLauncherAsWorker: there is one worker more, by the worker's template; the launcher runs no "
        "process "
        "and has no resources");
  }

  void noteSlotsOf(const RoleDraft& worker) {
    const Json given = get(spec_, "slotsPerWorker");
    const std::string slots = given.is_null() ? "1" : valueText(given);
    const std::int64_t own = std::max<std::int64_t>(1, gpusOf(worker.pod));
    if (slots == std::to_string(own)) return;
    notes_.changed(fmt::format(
        "slotsPerWorker {}: not carried over; the host file has a slot for each GPU, {} a node, and "
        "the command decides how many processes it starts",
        slots, own));
  }

  void addVariables() {
    for (RoleDraft& role : draft_.roles()) {
      role.variables.emplace_back("K_MPI_JOB_ROLE", role.name);
      for (const char* name :
           {"K_MPI_JOB_ROLE", "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_plm_rsh_args",
            "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_orte_keep_fqdn_hostnames", "OMPI_MCA_orte_set_default_slots",
            "I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "I_MPI_PERHOST",
            "HYDRA_HOST_FILE", "HYDRA_LAUNCH_EXTRA_ARGS"})
        role.overwritten.insert(name);
    }
    notes_.kept("host file and ssh are the operator's (docs/frameworks.md)");
  }

  const std::string version_;
  const Json spec_;
  JobDraft& draft_;
  ConversionNotes& notes_;
  KubeflowJob job_;
};

}  // namespace

void draftMpiJob(const Json& source, JobDraft& draft) { MpiJob(source, draft).draft(); }

}  // namespace trainyard::cli
