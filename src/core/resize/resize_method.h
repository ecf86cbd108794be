#pragma once

#include "model/job.h"

namespace trainyard::core {

// How a gang changes its size.
enum class ResizeMethod {
  kNotified,    // it runs on; its members read the new membership (model/membership.h)
  kDiscovered,  // it runs on; the framework itself detects joining and leaving members
  kByRestart    // it is stopped and restarts with the new size, on its old nodes
};

// kNotified: helper, launcher, Horovod. kDiscovered: torchrun's c10d rendezvous, and TensorFlow workers with
// parameter servers, where a worker connects only to the servers. All other jobs have their size in their
// environment.
[[nodiscard]] ResizeMethod resizeMethod(const model::JobSpec& spec);

}  // namespace trainyard::core
