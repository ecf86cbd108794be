#pragma once

#include <string_view>
#include <vector>

#include "model/job.h"

namespace trainyard::model {

// Ports that the operator itself tells a framework to listen on. In a pod with hostNetwork they are ports of
// the node: two such members cannot be on one node.
inline constexpr int kPyTorchPort = 29'500;
inline constexpr int kRendezvousPort = 29'400;  // of torchrun's c10d rendezvous
inline constexpr int kLauncherPort = 29'390;    // of trainyard-launch, for tasks and new sizes
inline constexpr int kJaxPort = 1'234;
inline constexpr int kTensorFlowPort = 2'222;
inline constexpr int kDmlcPort = 9'091;  // of MXNet's and BytePS' scheduler
inline constexpr int kSshPort = 2'222;   // of the workers of MPI and Horovod

struct GivenPort {
  int port = 0;
  // The variable that names the port; a template with an own value chooses the port itself. Empty: none does.
  std::string_view variable = {};
};

// What this member listens on. Rank 0 alone listens for PyTorch, JAX and the launcher; every member for
// TensorFlow and ssh.
[[nodiscard]] std::vector<GivenPort> givenPorts(const JobSpec& spec, std::string_view role, int index);

}  // namespace trainyard::model
