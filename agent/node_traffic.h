#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/tc_plan.h"
#include "core/network/bands.h"
#include "model/traffic_pod.h"

namespace trainyard::agent {

struct NodeJob {
  std::string name;  // "namespace/job", for messages
  JobTraffic traffic;
  core::RankedJob rank;
};

struct NodeTraffic {
  std::vector<NodeJob> jobs;  // whose traffic is to be ordered, by uid
  int pods = 0;               // of these jobs
  // Pods whose packets cannot be told from others': on the node's own network without declared ports.
  std::vector<std::string> unknown;
};

// What of the node's pods is to be ordered: parameter servers, and every member of a job that names a band.
// Finished pods, and those without an address yet, send nothing. An address that two pods have (one is on its
// way out) counts for the one that comes last by creation.
[[nodiscard]] NodeTraffic nodeTraffic(const std::vector<std::shared_ptr<const model::TrafficPod>>& pods);

}  // namespace trainyard::agent
