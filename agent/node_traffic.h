#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/tc_plan.h"
#include "core/network/bands.h"
#include "model/traffic_pod.h"

namespace trainyard::agent {

struct NodeJob {
  JobTraffic traffic;
  core::RankedJob rank;
};

struct NodeTraffic {
  std::vector<NodeJob> jobs;  // jobs with ordered traffic, sorted by uid
  int pods = 0;               // pods of these jobs
  // Pods with packets that cannot be distinguished: on the node's own network without declared ports.
  std::vector<std::string> unknown;
};

// Selects the traffic to order: parameter servers, and every member of a job that names a band. Finished pods
// and pods without an address are ignored: they send nothing. If two pods have the same address because one
// of them is terminating, the address belongs to the pod that was created last.
[[nodiscard]] NodeTraffic nodeTraffic(const std::vector<std::shared_ptr<const model::TrafficPod>>& pods);

}  // namespace trainyard::agent
