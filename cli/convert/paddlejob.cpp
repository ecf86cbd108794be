#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/convert/draft.h"
#include "cli/convert/kubeflow_job.h"

namespace trainyard::cli {
namespace {

constexpr KubeflowKind kPaddleParts{"paddleReplicaSpecs", "OnFailure"};
constexpr const char* kRendezvousName = "PADDLE_MASTER";
constexpr const char* kAddress = "POD_IP_DUMMY";  // Kubeflow's name

Json variable(const char* name) {
  Json one = Json::object();
  one["name"] = name;
  return one;
}

// Paddle serves the rendezvous in the member whose own address PADDLE_MASTER has: a name is not enough there.
void setOwnAddress(RoleDraft& role, const std::string& port) {
  Json address = variable(kAddress);
  address["valueFrom"]["fieldRef"]["fieldPath"] = "status.podIP";
  Json rendezvous = variable(kRendezvousName);
  rendezvous["value"] = fmt::format("$({}):{}", kAddress, port);
  forEachContainer(role.pod, [&](Json& container) {
    Json env = Json::array({address, rendezvous});
    for (const Json& each : listOf(get(container, "env"))) {
      const std::string name = textOf(get(each, "name"));
      if (name != kRendezvousName && name != kAddress) env.push_back(each);
    }
    container["env"] = std::move(env);
  });
}

// Without a Master, worker 0 has another variable than the others, so it becomes a role: members of a role
// are equal.
Json withMaster(Json spec, JobDraft& draft) {
  if (!get(spec, kPaddleParts.specs).is_object()) return spec;
  Json& parts = spec[kPaddleParts.specs];
  Json* worker = nullptr;
  for (auto& [key, part] : parts.items()) {
    if (key == "Master" || key == "master") return spec;
    if (key == "Worker" || key == "worker") worker = &part;
  }
  if (worker == nullptr || !get(*worker, "replicas").is_number_integer() || get(*worker, "replicas") < 2)
    return spec;
  Json master = *worker;
  master["replicas"] = 1;
  (*worker)["replicas"] = countOf(get(*worker, "replicas")) - 1;
  parts["Master"] = std::move(master);
  draft.notes().kept(
      "worker 0 is role master: its PADDLE_MASTER has its own address, that of the others its name");
  return spec;
}

}  // namespace

void draftPaddleJob(const Json& source, JobDraft& draft) {
  const Json spec = get(source, "spec");
  const Json parted = withMaster(spec, draft);
  const bool isParted = parted != spec;
  draft.spec()["framework"] = "Custom";
  KubeflowJob job(kPaddleParts, parted, draft);
  job.addRoles({"Master", "Worker"});
  job.noteRestarts();
  job.addRunPolicy(!isParted && draft.roles().find("master") != nullptr);
  job.addMemberNames("master|worker");
  if (isParted &&
      (draft.mentions(R"(-worker-(\d|\$))") || source.dump().find("replica-index") != std::string::npos))
    draft.notes().cannotWork(
        "a program reads the number of a worker: worker 0 is master-0 here, worker N is worker-(N - 1)");
  RoleDraft* first = draft.roles().find("master");
  const bool serves = first != nullptr && !isParted;  // parameter servers
  if (first == nullptr) first = draft.roles().find("worker");
  if (first == nullptr) return;
  const std::string port = job.portOf("master", "36543");
  if (countOf(first->replicas) > 1)
    draft.notes().cannotWork(fmt::format(
        "role {}: PADDLE_MASTER of its member 0 has to be that pod's address: make it a role of its own",
        first->name));
  job.set("PADDLE_JOB_ID", draft.name().empty() ? "$(TRAINYARD_JOB)" : draft.name());
  job.set("PADDLE_NNODES", "$(TRAINYARD_SIZE)");
  job.set("PYTHONUNBUFFERED", "1");
  for (RoleDraft& role : draft.roles()) {
    if (serves)
      role.variables.emplace_back(role.name == "master" ? "PADDLE_SERVER_NUM" : "PADDLE_TRAINER_NUM", "1");
    if (&role != first) {
      role.variables.emplace_back(kRendezvousName, fmt::format("$(TRAINYARD_COORDINATOR):{}", port));
      role.overwritten.insert(kRendezvousName);
    }
  }
  setOwnAddress(*first, port);
  // All workers have to end; with a role "master" the default is its end.
  if (isParted) draft.set("success", "roles", Json::array({"master", "worker"}));
  if (!get(spec, "elasticPolicy").is_null())
    draft.notes().lost("spec.elasticPolicy: not carried over: the size is fixed; write spec.elastic");
  draft.notes().kept("variables PADDLE_MASTER, PADDLE_NNODES and PADDLE_JOB_ID");
}

}  // namespace trainyard::cli
