#pragma once

#include <string>
#include <string_view>

// The objects that the load generator creates, and their texts.
namespace trainyard::bench {

inline constexpr std::string_view kRunLabel = "bench.trainyard.dev/run";
// What an object's text has where its name and its run's name belong.
inline constexpr std::string_view kNamePlace = "@NAME@";
inline constexpr std::string_view kRunPlace = "@RUN@";

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
  std::string runFor;  // of jobs' pods on simulated nodes; empty: until deletion
  std::string file;    // of kind "object": its text, with kNamePlace and kRunPlace
  std::string path;    // of kind "object": the collection, below the API server's address
  int pods = 1;        // of kind "object": of each object
};

// The pod is bound to `node` from the start, or left to the scheduler if that is empty.
[[nodiscard]] std::string podBody(const LoadOptions& options, int index, const std::string& node);

// A TrainingJob of `replicas` such pods, labelled with kRunLabel and the run's name.
[[nodiscard]] std::string jobBody(const LoadOptions& options, const std::string& name, int replicas);

// `text` with the name and the run filled in.
[[nodiscard]] std::string objectBody(const LoadOptions& options, const std::string& text,
                                     const std::string& name);

// A node as a kubelet maintains it, with 8 GPUs; its position in the network follows from the index.
[[nodiscard]] std::string nodeBody(const LoadOptions& options, int index);

}  // namespace trainyard::bench
