#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/environment.h"
#include "model/job.h"

// Internal to MemberEnvironments: what each framework reads.
namespace trainyard::core {

struct MemberPlace {
  const model::Job& job;
  const model::Role& role;
  int index = 0;
  int groupSize = 0;
  std::string_view coordinator;  // host of rank 0
};

// PyTorch: MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK count pods, for programs that run one process a pod.
// PET_* are torchrun's own flags, with one process for each GPU; torchrun sets the former anew for each of
// them. Static rendezvous, but c10d where members may come and go: with spec.elastic or restartScope Pod.
[[nodiscard]] model::Environment pyTorchEnvironment(const MemberPlace& place);

// TensorFlow: TF_CONFIG. `shared` is what tensorFlowShared() gives.
[[nodiscard]] std::string tensorFlowShared(const model::Job& job);
[[nodiscard]] model::Environment tensorFlowEnvironment(const MemberPlace& place, std::string_view shared);

// JAX: what jax.distributed.initialize() reads, one process a pod.
[[nodiscard]] model::Environment jaxEnvironment(const MemberPlace& place);

// MXNet's ps-lite and BytePS: DMLC_*.
[[nodiscard]] model::Environment mxNetEnvironment(const MemberPlace& place);

// MPI and Horovod: where the launcher finds its workers.
[[nodiscard]] model::Environment mpiEnvironment(const MemberPlace& place);

}  // namespace trainyard::core
