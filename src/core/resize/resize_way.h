#pragma once

#include "model/job.h"

namespace trainyard::core {

// How a gang comes to another size.
enum class ResizeWay {
  kTold,   // it goes on; its members read who belongs to it (model/membership.h)
  kFound,  // it goes on; the framework notices by itself who came and who went
  kAnew    // it is stopped, and starts with the new size, keeping its places
};

// Told: helper, launcher, Horovod. Found: torchrun's c10d rendezvous, and workers with parameter servers in
// TensorFlow, who see nobody but themselves and the servers. All others have their size in their
// environment.
[[nodiscard]] ResizeWay resizeWay(const model::JobSpec& spec);

}  // namespace trainyard::core
