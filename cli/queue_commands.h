#pragma once

#include <string>

#include "base/error.h"
#include "cli/cluster_client.h"

namespace trainyard::cli {

struct QueueFlags {
  ConnectFlags connect = {};
  bool json = false;
  std::string queue = {};  // empty: all
};

// Returns the tree of queues with usage and shares, or one queue in full, as text; or an error to print.
[[nodiscard]] base::Result<std::string> runQueues(const QueueFlags& flags);

}  // namespace trainyard::cli
