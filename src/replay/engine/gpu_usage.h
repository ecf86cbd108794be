#pragma once

#include <cstdint>
#include <vector>

namespace trainyard::replay {

// GPUs of the cluster and of each queue at one moment.
struct GpuUsage {
  struct OfQueue {
    double share = 0;  // the queue's part of the cluster
    std::int64_t used = 0;
    std::int64_t wanted = 0;  // used and requested
  };
  std::int64_t capacity = 0;
  std::int64_t used = 0;
  std::vector<OfQueue> queues = {};
};

}  // namespace trainyard::replay
