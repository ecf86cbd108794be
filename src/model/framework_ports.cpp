#include "model/framework_ports.h"

#include <array>

#include "model/process_group.h"

namespace trainyard::model {
namespace {

enum class Listener { kRankZero, kTask, kWorkerOfLauncher, kScheduler };

struct Row {
  Framework framework;
  Listener listener;
  FrameworkPort given;
};

constexpr std::array kRows{
    Row{Framework::kPyTorch, Listener::kRankZero, {kPyTorchPort, "MASTER_PORT"}},
    Row{Framework::kPyTorch, Listener::kRankZero, {kRendezvousPort, "PET_RDZV_ENDPOINT"}},
    Row{Framework::kJax, Listener::kRankZero, {kJaxPort, "JAX_COORDINATOR_PORT"}},
    Row{Framework::kTensorFlow, Listener::kTask, {kTensorFlowPort, "TF_CONFIG"}},
    Row{Framework::kMxNet, Listener::kScheduler, {kDmlcPort, "DMLC_PS_ROOT_PORT"}},
    Row{Framework::kMpi, Listener::kWorkerOfLauncher, {kSshPort, ""}},
    Row{Framework::kHorovod, Listener::kWorkerOfLauncher, {kSshPort, ""}},
};

bool isRankZero(const JobSpec& spec, std::string_view role, int index) {
  const auto ranked = rankedRoles(spec);
  return index == 0 && !ranked.empty() && ranked.front()->name == role;
}

bool listens(Listener listener, const JobSpec& spec, std::string_view role, int index) {
  switch (listener) {
    case Listener::kRankZero: return isRankZero(spec, role, index);
    case Listener::kTask: return role != "evaluator";
    case Listener::kWorkerOfLauncher: return spec.mayHavePeers() && role != kLauncherRole;
    case Listener::kScheduler: return role == "scheduler";
  }
  return false;
}

bool usesRendezvous(const JobSpec& spec) {
  return spec.elastic.has_value() || spec.failure.scope == RestartScope::kPod;
}

}  // namespace

std::vector<FrameworkPort> frameworkPorts(const JobSpec& spec, std::string_view role, int index) {
  std::vector<FrameworkPort> ports;
  for (const Row& row : kRows) {
    if (row.framework != spec.framework || !listens(row.listener, spec, role, index)) continue;
    if (row.given.port == kRendezvousPort && !usesRendezvous(spec)) continue;
    ports.push_back(row.given);
  }
  const bool launched = spec.checkpoint && spec.checkpoint->mode == CheckpointMode::kLauncher;
  if (launched && spec.mayHavePeers() && isRankZero(spec, role, index)) ports.push_back({kLauncherPort});
  return ports;
}

}  // namespace trainyard::model
