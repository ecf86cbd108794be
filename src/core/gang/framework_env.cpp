#include "core/gang/framework_env.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "model/gang_size.h"

namespace trainyard::core {
namespace {

using model::JobSpec;
using model::Role;

constexpr int kPyTorchPort = 29'500;
constexpr int kTensorFlowPort = 2'222;
constexpr std::array<std::string_view, 3> kCoordinators{"master", "chief", "worker"};
constexpr std::array<std::string_view, 5> kOutsiders{"ps", "scheduler", "server", "launcher", "evaluator"};

bool isOutsider(std::string_view role) {
  return std::find(kOutsiders.begin(), kOutsiders.end(), role) != kOutsiders.end();
}

// Roles of the process group in the order of their ranks.
std::vector<const Role*> rankedRoles(const JobSpec& spec) {
  std::vector<const Role*> roles;
  for (const Role& role : spec.roles) {
    if (!isOutsider(role.name)) roles.push_back(&role);
  }
  std::stable_sort(roles.begin(), roles.end(), [](const Role* a, const Role* b) {
    const auto place = [](const Role* role) {
      return std::find(kCoordinators.begin(), kCoordinators.end(), role->name) - kCoordinators.begin();
    };
    return place(a) < place(b);
  });
  return roles;
}

void addPyTorch(const model::Job& job, std::string_view roleName, int index, Environment& env) {
  const std::vector<const Role*> roles = rankedRoles(job.spec);
  const std::optional<int> rank = memberRank(job, roleName, index);
  const Role* role = job.spec.findRole(roleName);
  if (!rank || roles.empty() || role == nullptr) return;
  int world = 0;
  for (const Role* each : roles) world += model::gangMembers(job, *each);
  const std::string master = model::memberHost(job, roles.front()->name, 0);
  const std::string port = fmt::to_string(kPyTorchPort);
  env.emplace_back("MASTER_ADDR", master);
  env.emplace_back("MASTER_PORT", port);
  env.emplace_back("WORLD_SIZE", fmt::to_string(world));
  env.emplace_back("RANK", fmt::to_string(*rank));
  env.emplace_back("NODE_RANK", fmt::to_string(*rank));
  env.emplace_back("PET_NNODES", fmt::to_string(world));
  env.emplace_back("PET_NPROC_PER_NODE",
                   fmt::to_string(std::max<std::int64_t>(1, role->shape.requests.gpus())));
  env.emplace_back("PET_NODE_RANK", fmt::to_string(*rank));
  env.emplace_back("PET_MASTER_ADDR", master);
  env.emplace_back("PET_MASTER_PORT", port);
  env.emplace_back("PYTHONUNBUFFERED", "1");
}

// Written by hand: names of roles and hosts hold nothing that JSON would have to escape.
std::string tensorFlowCluster(const model::Job& job) {
  std::string cluster;
  for (const Role& role : job.spec.roles) {
    // An evaluator in the cluster would be waited for by the others.
    if (role.name == "evaluator") continue;
    const int members = model::gangMembers(job, role);
    std::string hosts;
    for (int i = 0; i < members; ++i) {
      hosts += fmt::format("{}\"{}:{}\"", i == 0 ? "" : ",", model::memberHost(job, role.name, i),
                           kTensorFlowPort);
    }
    cluster += fmt::format("{}\"{}\":[{}]", cluster.empty() ? "" : ",", role.name, hosts);
  }
  return cluster;
}

}  // namespace

std::optional<int> memberRank(const model::Job& job, std::string_view role, int index) {
  int before = 0;
  for (const Role* each : rankedRoles(job.spec)) {
    if (each->name == role) return before + index;
    before += model::gangMembers(job, *each);
  }
  return std::nullopt;
}

MemberEnvironments::MemberEnvironments(const model::Job& job)
    : job_(job),
      cluster_(job.spec.framework == model::Framework::kTensorFlow ? tensorFlowCluster(job) : std::string()) {
}

Environment MemberEnvironments::of(std::string_view role, int index, std::int64_t epoch) const {
  Environment env{{"TRAINYARD_JOB", job_.key.name},
                  {"TRAINYARD_ROLE", std::string(role)},
                  {"TRAINYARD_INDEX", fmt::to_string(index)},
                  {"TRAINYARD_EPOCH", fmt::to_string(epoch)}};
  switch (job_.spec.framework) {
    case model::Framework::kPyTorch: addPyTorch(job_, role, index, env); break;
    case model::Framework::kTensorFlow:
      env.emplace_back(
          "TF_CONFIG",
          fmt::format(R"({{"cluster":{{{}}},"task":{{"type":"{}","index":{}}},"environment":"cloud"}})",
                      cluster_, role, index));
      break;
    case model::Framework::kMxNet:
    case model::Framework::kHorovod:
    case model::Framework::kMpi:
    case model::Framework::kCustom: break;
  }
  return env;
}

}  // namespace trainyard::core
