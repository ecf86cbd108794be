#pragma once

#include <string>
#include <string_view>

// What the load generator is to create, and the texts of it.
namespace trainyard::bench {

inline constexpr std::string_view kRunLabel = "bench.trainyard.dev/run";

struct LoadOptions {
  std::string kubeconfig;
  std::string kind = "pods";
  std::string run = "run";
  std::string ns = "default";
  int count = 1;
  int gpus = 1;
  int perNode = 4;  // of bound-pods
  int connections = 32;
  int timeoutSeconds = 300;
  std::string runFor;  // of jobs' pods on simulated nodes; empty: until they are deleted
};

// On `node` from the start, or to be scheduled where that is empty.
[[nodiscard]] std::string podBody(const LoadOptions& options, int index, const std::string& node);

// A TrainingJob of `replicas` such pods, which carry kRunLabel with the run's name.
[[nodiscard]] std::string jobBody(const LoadOptions& options, const std::string& name, int replicas);

// As a kubelet would keep it, with 8 GPUs; the places in the network follow from the index.
[[nodiscard]] std::string nodeBody(const LoadOptions& options, int index);

}  // namespace trainyard::bench
