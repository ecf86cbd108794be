#include "sim/cluster/cluster_user.h"

#include <utility>

#include <fmt/format.h>

#include "codec/status.h"
#include "kube/paths.h"
#include "sim/api/json.h"

namespace trainyard::sim {
namespace {

// The kinds that users and tests create; discovery would be the general solution.
struct KnownKind {
  std::string_view apiVersion;
  std::string_view kind;
  kube::ResourceType type;
};
constexpr KnownKind kKinds[] = {
    {"v1", "Pod", kube::kPods},
    {"v1", "Service", kube::kServices},
    {"v1", "ConfigMap", kube::kConfigMaps},
    {"v1", "Secret", kube::kSecrets},
    {"v1", "Node", kube::kNodes},
    {"v1", "Namespace", kube::kNamespaces},
    {"v1", "LimitRange", {"", "v1", "limitranges"}},
    {"batch/v1", "Job", {"batch", "v1", "jobs"}},
    {"apps/v1", "ReplicaSet", {"apps", "v1", "replicasets"}},
    {"scheduling.k8s.io/v1", "PriorityClass", kube::kPriorityClasses},
    {"trainyard.dev/v1alpha1", "TrainingJob", kube::kTrainingJobs},
    {"trainyard.dev/v1alpha1", "Queue", kube::kQueues},
};

}  // namespace

base::Result<std::string> ClusterUser::request(net::Method method, const std::string& path,
                                               const std::string& body, const std::string& contentType) {
  net::HttpRequest request{.method = method, .target = path, .body = body};
  if (!body.empty()) request.headers.emplace_back("Content-Type", contentType);
  net::HttpResponse response = server_.handle(request);
  if (response.status / 100 == 2) return std::move(response.body);
  return base::fail(codec::errorFromAnswer(response.status, response.body,
                                           fmt::format("{} {}", net::toString(method), path)));
}

base::Result<std::string> ClusterUser::create(const std::string& json, std::string_view ns) {
  const auto object = parseJson(json);
  if (!object) return base::fail(object.error());
  const std::string apiVersion = textAt(*object, {"apiVersion"});
  const std::string kind = textAt(*object, {"kind"});
  for (const KnownKind& known : kKinds) {
    if (known.apiVersion != apiVersion || known.kind != kind) continue;
    const std::string own = textAt(*object, {"metadata", "namespace"});
    return request(net::Method::kPost, known.type.collection(own.empty() ? ns : own), json,
                   "application/json");
  }
  return base::fail(base::ErrorCode::kInvalid,
                    fmt::format("cannot create a {} of {}: no such kind here", kind, apiVersion));
}

base::Result<void> ClusterUser::addNodes(int count, const NodeShape& shape) {
  for (int i = 0; i < count; ++i) {
    const int rack = nodes_ / shape.nodesInRack;
    const int block = rack / shape.racksInBlock;
    const std::string name = fmt::format("n{:04}", nodes_++);
    Json resources = {
        {"cpu", std::to_string(shape.cpus)}, {"memory", shape.memory}, {"pods", std::to_string(shape.pods)}};
    Json labels = {{"kubernetes.io/hostname", name},
                   {"topology.kubernetes.io/zone", fmt::format("z{}", block / shape.blocksInZone)},
                   {"cloud.provider.com/topology-block", fmt::format("b{}", block)},
                   {"cloud.provider.com/topology-rack", fmt::format("r{}", rack)}};
    if (shape.gpus > 0) {
      resources["nvidia.com/gpu"] = std::to_string(shape.gpus);
      labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
    }
    const Json node = {{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", name}, {"labels", labels}}},
                       {"status", {{"capacity", resources}, {"allocatable", resources}}}};
    if (const auto made = create(dumpJson(node), "default"); !made) return base::fail(made.error());
  }
  return {};
}

}  // namespace trainyard::sim
