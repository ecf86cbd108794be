#include <fmt/format.h>

#include "cli/convert/draft.h"
#include "cli/convert/kubeflow_job.h"

namespace trainyard::cli {
namespace {

constexpr KubeflowKind kXgBoostParts{"xgbReplicaSpecs", "Never"};
constexpr std::int64_t kMaxAddresses = 1000;

// LightGBM reads the addresses of all workers.
void setWorkers(KubeflowJob& job, const std::string& port, JobDraft& draft) {
  const RoleDraft* worker = draft.roles().find("worker");
  if (worker == nullptr) return;
  if (!worker->replicas.is_number_integer() || countOf(worker->replicas) > kMaxAddresses) {
    if (draft.mentions("WORKER_ADDRS"))
      draft.notes().cannotWork("WORKER_ADDRS is not set: the number of workers is unknown, or above 1000");
    return;
  }
  std::string hosts;
  for (std::int64_t i = 0; i < countOf(worker->replicas); ++i)
    hosts += (hosts.empty() ? "" : ",") + draft.hostOf("worker", i);
  job.set("WORKER_PORT", port);
  job.set("WORKER_ADDRS", hosts);
}

}  // namespace

void draftXgBoostJob(const Json& source, JobDraft& draft) {
  draft.spec()["framework"] = "Custom";
  KubeflowJob job(kXgBoostParts, get(source, "spec"), draft);
  job.addRoles({"Master", "Worker"});
  job.noteRestarts();
  job.addRunPolicy(true);
  job.addMemberNames("master|worker");
  const std::string port = job.portOf("xgboostjob-port", "9999");
  job.set("MASTER_PORT", port);
  job.set("MASTER_ADDR", "$(TRAINYARD_COORDINATOR)");
  job.set("WORLD_SIZE", "$(TRAINYARD_SIZE)");
  job.set("RANK", "$(TRAINYARD_RANK)");
  job.set("PYTHONUNBUFFERED", "1");
  setWorkers(job, port, draft);
  draft.notes().kept("variables MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE, WORKER_ADDRS and WORKER_PORT");
}

}  // namespace trainyard::cli
