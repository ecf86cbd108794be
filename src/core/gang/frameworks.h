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

// PyTorch: MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK count pods, for programs that run one process per
// pod. PET_* are torchrun's flags, with one process per GPU; torchrun overrides the former for each process.
// The rendezvous is static, or c10d if members may come and go (spec.elastic or restartScope Pod).
[[nodiscard]] model::Environment pyTorchEnvironment(const MemberPlace& place);

// TensorFlow: TF_CONFIG. `shared` is the result of tensorFlowShared().
[[nodiscard]] std::string tensorFlowShared(const model::Job& job);
[[nodiscard]] model::Environment tensorFlowEnvironment(const MemberPlace& place, std::string_view shared);

// JAX: what jax.distributed.initialize() reads, one process per pod.
[[nodiscard]] model::Environment jaxEnvironment(const MemberPlace& place);

// MXNet's ps-lite and BytePS: DMLC_*.
[[nodiscard]] model::Environment mxNetEnvironment(const MemberPlace& place);

// MPI and Horovod: how the launcher finds its workers.
[[nodiscard]] model::Environment mpiEnvironment(const MemberPlace& place);

}  // namespace trainyard::core
