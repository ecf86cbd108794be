#include "cli/cluster_topology.h"

#include "codec/json_value.h"
#include "codec/policy.h"
#include "kube/paths.h"

namespace trainyard::cli {

std::optional<std::vector<model::TopologyLevel>> topologyOf(LiveCluster& cluster) {
  // The chart's default name and namespace; `simulate` accepts others.
  const auto body = cluster.get({kube::kConfigMaps.object("trainyard-system", "trainyard-policy")}).front();
  if (!body) {
    if (body.error().code == base::ErrorCode::kNotFound) return model::defaultTopologyLevels();
    return std::nullopt;
  }
  const auto document = codec::JsonDocument::parse(*body);
  if (!document) return std::nullopt;
  const auto text = document->root().find("data").find("policy.yaml").string();
  if (!text) return std::nullopt;
  auto policy = codec::decodePolicy(std::string(*text), "policy.yaml");
  if (!policy) return std::nullopt;
  return std::move(policy->topology);
}

}  // namespace trainyard::cli
