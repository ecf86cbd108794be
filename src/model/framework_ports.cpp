#include "model/framework_ports.h"

#include <array>
#include <span>

#include "model/process_group.h"

namespace trainyard::model {
namespace {

enum class Listener { kRankZero, kTask, kWorkerOfLauncher, kScheduler };

struct Given {
  Listener listener;
  FrameworkPort port;
};

constexpr std::array kPyTorch{Given{Listener::kRankZero, {kPyTorchPort, "MASTER_PORT"}},
                              Given{Listener::kRankZero, {kRendezvousPort, "PET_RDZV_ENDPOINT"}}};
constexpr std::array kJax{Given{Listener::kRankZero, {kJaxPort, "JAX_COORDINATOR_PORT"}}};
constexpr std::array kTensorFlow{Given{Listener::kTask, {kTensorFlowPort, "TF_CONFIG"}}};
constexpr std::array kMxNet{Given{Listener::kScheduler, {kDmlcPort, "DMLC_PS_ROOT_PORT"}}};
constexpr std::array kOverSsh{Given{Listener::kWorkerOfLauncher, {kSshPort, ""}}};

std::span<const Given> givenTo(Framework framework) {
  switch (framework) {
    case Framework::kPyTorch: return kPyTorch;
    case Framework::kTensorFlow: return kTensorFlow;
    case Framework::kJax: return kJax;
    case Framework::kMxNet: return kMxNet;
    case Framework::kHorovod:
    case Framework::kMpi: return kOverSsh;
    case Framework::kCustom: break;
  }
  return {};
}

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
  for (const Given& given : givenTo(spec.framework)) {
    if (!listens(given.listener, spec, role, index)) continue;
    if (given.port.port == kRendezvousPort && !usesRendezvous(spec)) continue;
    ports.push_back(given.port);
  }
  const bool launched = spec.checkpoint && spec.checkpoint->mode == CheckpointMode::kLauncher;
  if (launched && spec.mayHavePeers() && isRankZero(spec, role, index)) ports.push_back({kLauncherPort});
  return ports;
}

}  // namespace trainyard::model
