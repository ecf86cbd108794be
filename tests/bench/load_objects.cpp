#include "load_objects.h"

#include <fmt/format.h>

namespace trainyard::bench {
namespace {

std::string podSpec(const LoadOptions& options, const std::string& node) {
  // These pods tolerate nodes that are not marked ready yet: only the comparison with 5,000 nodes has such
  // nodes.
  return fmt::format(
      R"({{{}"restartPolicy":"Never","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoSchedule"}}],)"
      R"("containers":[{{"name":"train","image":"registry.example.com/train:1","command":["python","train.py"],)"
      R"("env":[{{"name":"NCCL_DEBUG","value":"WARN"}},{{"name":"OMP_NUM_THREADS","value":"8"}}],)"
      R"("resources":{{"requests":{{"cpu":"1","memory":"4Gi"}},"limits":{{"nvidia.com/gpu":{}}}}}}}]}})",
      node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node), options.gpus);
}

std::string replaceAll(std::string text, std::string_view what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

}  // namespace

std::string podBody(const LoadOptions& options, int index, const std::string& node) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}-{1:05}","labels":{{"{2}":"{0}"}}}},"spec":{3}}})",
      options.run, index, kRunLabel, podSpec(options, node));
}

std::string jobBody(const LoadOptions& options, const std::string& name, int replicas) {
  return fmt::format(
      R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{{"name":"{}"}},)"
      R"("spec":{{"framework":"Custom","roles":[{{"name":"worker","replicas":{},"template":)"
      R"({{"metadata":{{"labels":{{"{}":"{}"}}{}}},"spec":{}}}}}]}}}})",
      name, replicas, kRunLabel, options.run,
      options.runFor.empty()
          ? ""
          : fmt::format(R"(,"annotations":{{"sim.trainyard.dev/run-for":"{}"}})", options.runFor),
      podSpec(options, ""));
}

std::string objectBody(const LoadOptions& options, const std::string& text, const std::string& name) {
  return replaceAll(replaceAll(text, kNamePlace, name), kRunPlace, options.run);
}

std::string nodeBody(const LoadOptions& options, int index) {
  constexpr std::string_view kAmounts =
      R"({"cpu":"96","memory":"1Ti","pods":"110","nvidia.com/gpu":"8","ephemeral-storage":"1Ti"})";
  const int rack = index / 10;
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}-{1:05}","labels":{{"kubernetes.io/hostname":"{0}-{1:05}",)"
      R"("kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3",)"
      R"("topology.kubernetes.io/zone":"z{2}","cloud.provider.com/topology-block":"b{3}","cloud.provider.com/topology-rack":"r{4}"}}}},)"
      R"("status":{{"allocatable":{5},"capacity":{5},"conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady",)"
      R"("message":"ready","lastHeartbeatTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}}]}}}})",
      options.run, index, rack / 125, rack / 5, rack, kAmounts);
}

}  // namespace trainyard::bench
