#include "cli/convert/draft.h"
#include "cli/convert/kubeflow_job.h"

namespace trainyard::cli {
namespace {

constexpr KubeflowKind kJaxParts{"jaxReplicaSpecs", "Never"};

}  // namespace

void draftJaxJob(const Json& source, JobDraft& draft) {
  draft.spec()["framework"] = "JAX";
  KubeflowJob job(kJaxParts, get(source, "spec"), draft);
  job.addRoles({"Worker"});
  job.noteRestarts();
  job.addRunPolicy(false);
  job.addMemberNames("worker");
  job.set("COORDINATOR_PORT", job.portOf("jaxjob-port", "6666"));
  job.set("COORDINATOR_ADDRESS", "$(TRAINYARD_COORDINATOR)");
  job.set("NUM_PROCESSES", "$(TRAINYARD_SIZE)");
  job.set("PROCESS_ID", "$(TRAINYARD_RANK)");
  draft.notes().kept("variables COORDINATOR_ADDRESS, COORDINATOR_PORT, NUM_PROCESSES and PROCESS_ID");
}

}  // namespace trainyard::cli
