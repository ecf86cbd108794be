#include <fmt/format.h>

#include "cli/convert/draft.h"
#include "cli/convert/kubeflow_job.h"

namespace trainyard::cli {
namespace {

constexpr KubeflowKind kTensorFlow{"tfReplicaSpecs", "Never"};
constexpr const char* kTaskPort = "2222";

// Kubeflow ends the job with worker 0, unless the policy is AllWorkers.
void noteSuccess(const Json& policy, bool hasChief, JobDraft& draft) {
  const RoleDraft* worker = draft.roles().find("worker");
  if (hasChief || policy == "AllWorkers" || worker == nullptr || countOf(worker->replicas) < 2) return;
  draft.notes().changed("the job has succeeded when all workers have, not worker 0 alone; see spec.success");
}

}  // namespace

void draftTfJob(const Json& source, JobDraft& draft) {
  const Json spec = get(source, "spec");
  draft.spec()["framework"] = "TensorFlow";
  KubeflowJob job(kTensorFlow, spec, draft);
  job.addRoles({"Chief", "Master", "Worker", "PS", "Evaluator"});
  job.noteRestarts();
  const bool hasChief = draft.roles().find("chief") != nullptr || draft.roles().find("master") != nullptr;
  const bool hasServers = draft.roles().find("ps") != nullptr;
  job.addRunPolicy(hasChief || hasServers);
  noteSuccess(get(spec, "successPolicy"), hasChief, draft);
  job.addMemberNames("chief|master|worker|ps|evaluator");
  for (RoleDraft& role : draft.roles()) role.overwritten.insert("TF_CONFIG");
  draft.notes().kept("TF_CONFIG is set by the operator (docs/frameworks.md)");
  if (hasServers && get(spec, "enableDynamicWorker") != true)
    draft.notes().changed(
        "TF_CONFIG: with PS, a worker sees itself, the chief and the PS, as with enableDynamicWorker; in "
        "Kubeflow it sees all members");
  if (const std::string port = job.portOf("tfjob-port", kTaskPort); port != kTaskPort)
    draft.notes().changed(
        fmt::format("tfjob-port {}: the addresses of TF_CONFIG have port {}", port, kTaskPort));
}

}  // namespace trainyard::cli
