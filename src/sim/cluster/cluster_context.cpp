#include "sim/cluster/cluster_context.h"

#include <utility>

#include "base/silent_log.h"

namespace trainyard::sim {

ClusterContext::ClusterContext(ClusterOptions given)
    : options(std::move(given)),
      rng(options.seed),
      silence(std::make_unique<base::SilentSink>()),
      log(options.log != nullptr ? *options.log : *silence, options.logLevel, "cluster") {}

}  // namespace trainyard::sim
