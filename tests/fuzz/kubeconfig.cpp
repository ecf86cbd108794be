#include "codec/kubeconfig.h"

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void kubeconfig(std::string_view input) {
  const auto config = codec::decodeKubeconfig(std::string(input), "file");
  if (!config) return require(config.error().message.starts_with("file: "), "a refusal names the file");
  for (const codec::KubeconfigCluster& each : config->clusters) {
    require(!each.name.empty() && !each.server.empty(), "a cluster has a name and a server");
  }
  codec::Kubeconfig merged = *config;
  merged.merge(*config);
  require(merged.clusters.size() == config->clusters.size() && merged.users.size() == config->users.size() &&
              merged.contexts.size() == config->contexts.size(),
          "merging a file with itself adds nothing");
}

}  // namespace trainyard::fuzz
