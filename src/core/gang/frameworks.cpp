#include "core/gang/frameworks.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "model/framework_files.h"
#include "model/framework_ports.h"
#include "model/gang_size.h"
#include "model/late_members.h"
#include "model/membership.h"
#include "model/process_group.h"
#include "model/tensorflow_cluster.h"

namespace trainyard::core {
namespace {

using model::Environment;
using model::Role;

// The surviving members use up one of them for each lost member.
constexpr int kTorchRestarts = 10;

int membersOf(const model::Job& job, std::string_view name) {
  const Role* role = job.spec.findRole(name);
  return role == nullptr ? 0 : model::announcedMembers(job, *role);
}

std::optional<int> rankOf(const MemberPlace& place) {
  return model::memberRank(place.job, place.role.name, place.index);
}

// A program that reads its membership rebuilds its process group for each size, so its group size is fixed. A
// job that may start without its last members keeps one size for its lifetime.
bool isElastic(const model::JobSpec& spec) {
  if (!spec.elastic || model::readsMembership(spec) || model::mayStartIncomplete(spec)) return false;
  const auto roles = model::rankedRoles(spec);
  return std::any_of(roles.begin(), roles.end(),
                     [&](const Role* role) { return role->name == spec.elastic->role; });
}

// "min:max" of the whole group if it can change its size.
std::string nodesOf(const MemberPlace& place) {
  const model::JobSpec& spec = place.job.spec;
  if (!isElastic(spec)) return fmt::to_string(place.groupSize);
  const int others = place.groupSize - membersOf(place.job, spec.elastic->role);
  return fmt::format("{}:{}", others + spec.elastic->minReplicas, others + spec.elastic->maxReplicas);
}

}  // namespace

Environment pyTorchEnvironment(const MemberPlace& place) {
  const std::optional<int> rank = rankOf(place);
  if (!rank) return {};
  const std::string master(place.coordinator);
  const std::string port = fmt::to_string(model::kPyTorchPort);
  Environment env{{"MASTER_ADDR", master},
                  {"MASTER_PORT", port},
                  {"WORLD_SIZE", fmt::to_string(place.groupSize)},
                  {"RANK", fmt::to_string(*rank)},
                  {"NODE_RANK", fmt::to_string(*rank)},
                  {"PET_NNODES", nodesOf(place)},
                  {"PET_NPROC_PER_NODE", fmt::to_string(model::slotsOf(place.role))},
                  {"PYTHONUNBUFFERED", "1"}};
  const model::JobSpec& spec = place.job.spec;
  const bool mayChange =
      isElastic(spec) || (spec.failure.scope == model::RestartScope::kPod && !model::readsMembership(spec));
  if (mayChange) {
    // Not per epoch: the replacement of a lost member joins the surviving members.
    env.push_back({"PET_RDZV_ID", place.job.uid.str()});
    env.push_back({"PET_RDZV_BACKEND", "c10d"});
    env.push_back({"PET_RDZV_ENDPOINT", fmt::format("{}:{}", master, model::kRendezvousPort)});
    // Without is_host torchrun compares host names to find the endpoint. A pod's own host
    // name is longer than the one of its Service.
    env.push_back({"PET_RDZV_CONF", *rank == 0 ? "is_host=1" : "is_host=0"});
    env.push_back({"PET_MAX_RESTARTS", fmt::to_string(kTorchRestarts)});
  } else {
    env.push_back({"PET_NODE_RANK", fmt::to_string(*rank)});
    env.push_back({"PET_MASTER_ADDR", master});
    env.push_back({"PET_MASTER_PORT", port});
  }
  return env;
}

std::string tensorFlowShared(const model::Job& job) {
  if (!model::hasParameterServers(job.spec)) return {};
  std::string shared;
  for (const Role& role : job.spec.roles) {
    if (role.name == "worker" || role.name == "evaluator") continue;
    if (!shared.empty()) shared += ',';
    shared += model::tensorFlowRole(job, role);
  }
  return shared;
}

// With parameter servers, a worker sees itself and the servers, a server sees itself and the chief. In all
// other cases every member sees all members. The list is a file, which the variable before it reads; if the
// job has no files, the list is in TF_CONFIG itself.
Environment tensorFlowEnvironment(const MemberPlace& place, std::string_view shared) {
  const model::Job& job = place.job;
  const std::string task =
      fmt::format(R"("task":{{"type":"{}","index":{}}},"environment":"cloud")", place.role.name, place.index);
  const auto config = [&](std::string_view cluster) {
    return model::Variable{"TF_CONFIG", fmt::format(R"({{"cluster":{},{}}})", cluster, task)};
  };
  const bool servers = model::hasParameterServers(job.spec);
  if (servers && place.role.name == "worker") {
    const std::string self = model::tensorFlowTask(job, place.role.name, place.index);
    return {config(fmt::format("{{{},{}}}", shared, self))};
  }
  if (servers && place.role.name == "ps") {
    std::string cluster = model::tensorFlowTask(job, place.role.name, place.index);
    for (const std::string_view first : {"chief", "master"}) {
      const Role* role = job.spec.findRole(first);
      if (role != nullptr) cluster = fmt::format("{},{}", model::tensorFlowRole(job, *role), cluster);
    }
    return {config(fmt::format("{{{}}}", cluster))};
  }
  if (model::announcedMembers(job) == 1)
    return {config(fmt::format("{{{}}}", model::tensorFlowCluster(job)))};
  return {{"TRAINYARD_TF_CLUSTER", {}, std::string(model::files::kTensorFlowCluster)},
          config("$(TRAINYARD_TF_CLUSTER)")};
}

Environment jaxEnvironment(const MemberPlace& place) {
  const std::optional<int> rank = rankOf(place);
  if (!rank) return {};
  return {{"JAX_COORDINATOR_ADDRESS", fmt::format("{}:{}", place.coordinator, model::kJaxPort)},
          {"JAX_COORDINATOR_PORT", fmt::to_string(model::kJaxPort)},
          {"JAX_NUM_PROCESSES", fmt::to_string(place.groupSize)},
          {"JAX_PROCESS_ID", fmt::to_string(*rank)},
          {"PYTHONUNBUFFERED", "1"}};
}

Environment mxNetEnvironment(const MemberPlace& place) {
  const std::string& role = place.role.name;
  if (role != "scheduler" && role != "server" && role != "worker") return {};
  const int workers = membersOf(place.job, "worker");
  const int servers = membersOf(place.job, "server");
  Environment env{{"DMLC_ROLE", role},
                  {"DMLC_PS_ROOT_URI", model::memberHost(place.job, "scheduler", 0)},
                  {"DMLC_PS_ROOT_PORT", fmt::to_string(model::kDmlcPort)},
                  {"DMLC_NUM_WORKER", fmt::to_string(workers)},
                  {"DMLC_NUM_SERVER", fmt::to_string(servers)},
                  {"DMLC_USE_KUBERNETES", "1"},
                  {"PYTHONUNBUFFERED", "1"}};
  if (role == "worker") {
    env.push_back({"DMLC_WORKER_ID", fmt::to_string(place.index)});
    env.push_back({"BYTEPS_LOCAL_SIZE", fmt::to_string(model::slotsOf(place.role))});
  }
  // Otherwise BytePS does not use the servers, and these wait for their worker for ever.
  if (workers == 1 && servers > 0) env.push_back({"BYTEPS_FORCE_DISTRIBUTED", "1"});
  return env;
}

Environment mpiEnvironment(const MemberPlace& place) {
  if (!model::launchesOverSsh(place.job)) return {};
  const auto path = [](std::string_view key) { return fmt::format("{}/{}", model::files::kFolder, key); };
  const std::string hosts = path(model::files::kHostfile);
  const std::string hydraHosts = path(model::files::kHydraHosts);
  const std::string sshArguments = "-F " + path(model::files::kSshConfig);
  const std::string ssh = path(model::files::kSsh);
  std::int64_t processes = 0;
  std::int64_t perHost = 1;
  for (const Role* role : model::rankedRoles(place.job.spec)) {
    processes += model::slotsOf(*role) * model::gangMembers(place.job, *role);
    perHost = std::max(perHost, model::slotsOf(*role));
  }
  Environment env{{"TRAINYARD_HOSTFILE", hosts},
                  {"TRAINYARD_PROCESSES", fmt::to_string(processes)},
                  {"OMPI_MCA_orte_default_hostfile", hosts},
                  {"OMPI_MCA_orte_keep_fqdn_hostnames", "true"},
                  {"OMPI_MCA_plm_rsh_args", sshArguments},
                  {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                  {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                  {"PRTE_MCA_prte_default_hostfile", hosts},
                  {"PRTE_MCA_prte_keep_fqdn_hostnames", "true"},
                  {"PRTE_MCA_plm_ssh_args", sshArguments},
                  {"PRTE_ALLOW_RUN_AS_ROOT", "1"},
                  {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                  {"HYDRA_HOST_FILE", hydraHosts},
                  {"HYDRA_LAUNCHER", "ssh"},
                  {"HYDRA_LAUNCHER_EXEC", ssh},
                  {"I_MPI_HYDRA_HOST_FILE", hydraHosts},
                  {"I_MPI_HYDRA_BOOTSTRAP", "ssh"},
                  {"I_MPI_HYDRA_BOOTSTRAP_EXEC", ssh},
                  {"I_MPI_PERHOST", fmt::to_string(perHost)},
                  {"PYTHONUNBUFFERED", "1"}};
  if (place.job.spec.framework == model::Framework::kHorovod) {
    env.push_back({"TRAINYARD_DISCOVER_HOSTS", path(model::files::kDiscoverHosts)});
    // horovodrun waits that long for all processes to report. Its 30 s are too short for large images.
    env.push_back({"HOROVOD_START_TIMEOUT", "600"});
    env.push_back({"HOROVOD_GLOO_TIMEOUT_SECONDS", "600"});
  }
  // A launcher without GPUs must not see the GPUs of the node that it runs on.
  if (place.role.name == model::kLauncherRole && place.role.shape.requests.gpus() == 0) {
    env.push_back({"NVIDIA_VISIBLE_DEVICES", ""});
    env.push_back({"NVIDIA_DRIVER_CAPABILITIES", ""});
  }
  return env;
}

}  // namespace trainyard::core
