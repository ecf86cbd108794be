#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace trainyard::model {

// The training framework of a job. A new one needs its row here, and what docs/architecture.md lists. Append
// it: codec/framework_files.cpp hashes the number.
enum class Framework { kPyTorch, kTensorFlow, kJax, kMxNet, kHorovod, kMpi, kCustom };

// Which members' programs find new and lost members by themselves, so that the gang changes its size without
// a restart.
enum class Discovery {
  kNone,
  kRanked,            // those of the process group (torchrun's c10d rendezvous)
  kWorkersOfServers,  // workers, if parameter servers are their only peers
};

struct FrameworkTraits {
  Framework framework;
  std::string_view name;  // in spec.framework
  bool launchesOverSsh;   // the role launcher starts the processes of all other roles over ssh
  bool discoversHosts;    // its launcher reads an elastic job's membership by itself
  bool readsTfConfig;     // TF_CONFIG names every member
  Discovery discovery;
};

inline constexpr std::array kFrameworks{
    FrameworkTraits{Framework::kPyTorch, "PyTorch", false, false, false, Discovery::kRanked},
    FrameworkTraits{Framework::kTensorFlow, "TensorFlow", false, false, true, Discovery::kWorkersOfServers},
    FrameworkTraits{Framework::kJax, "JAX", false, false, false, Discovery::kNone},
    FrameworkTraits{Framework::kMxNet, "MXNet", false, false, false, Discovery::kNone},
    FrameworkTraits{Framework::kHorovod, "Horovod", true, true, false, Discovery::kNone},
    FrameworkTraits{Framework::kMpi, "MPI", true, false, false, Discovery::kNone},
    FrameworkTraits{Framework::kCustom, "Custom", false, false, false, Discovery::kNone},
};

[[nodiscard]] constexpr const FrameworkTraits& traitsOf(Framework framework) {
  return kFrameworks[static_cast<std::size_t>(framework)];
}
[[nodiscard]] std::optional<Framework> frameworkNamed(std::string_view name);

}  // namespace trainyard::model
