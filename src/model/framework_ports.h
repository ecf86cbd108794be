#pragma once

#include <string_view>
#include <vector>

#include "model/job.h"

namespace trainyard::model {

// Ports that the operator sets for a framework to listen on. With hostNetwork they are ports of the node: two
// such members cannot share a node.
inline constexpr int kPyTorchPort = 29'500;
inline constexpr int kRendezvousPort = 29'400;  // torchrun's c10d rendezvous
inline constexpr int kLauncherPort = 29'390;    // trainyard-launch, for tasks and new sizes
inline constexpr int kJaxPort = 1'234;
inline constexpr int kTensorFlowPort = 2'222;
inline constexpr int kDmlcPort = 9'091;  // the scheduler of MXNet and BytePS
inline constexpr int kSshPort = 2'222;   // the workers of MPI and Horovod

struct FrameworkPort {
  int port = 0;
  // The variable that names the port; a template that sets it chooses the port itself. Empty: none does.
  std::string_view variable = {};
};

// Returns the ports that this member listens on. Only rank 0 listens for PyTorch, JAX and the launcher; every
// member listens for TensorFlow and ssh.
[[nodiscard]] std::vector<FrameworkPort> frameworkPorts(const JobSpec& spec, std::string_view role,
                                                        int index);

}  // namespace trainyard::model
