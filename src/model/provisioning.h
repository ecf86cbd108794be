#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/conditions.h"
#include "model/ids.h"

namespace trainyard::model {

// How nodes are asked for that do not exist yet.
enum class ProvisioningBy {
  kNobody,
  kProvisioningRequest,  // an object of autoscaling.x-k8s.io, which Cluster Autoscaler reads
  kPlaceholderPods,      // pods that nobody binds, for autoscalers that look at unschedulable pods: Karpenter
};

// The part `provisioning` of the policy file, docs/autoscaling.md. Beside Policy and not in it: no plan
// depends on it, only what the operator does about those whom no plan can help.
struct ProvisioningPolicy {
  ProvisioningBy by = ProvisioningBy::kNobody;
  std::string className = "best-effort-atomic-scale-up.autoscaling.x-k8s.io";
  std::chrono::milliseconds after{10'000};         // a job waits so long for room before nodes are asked for
  std::chrono::milliseconds giveUpAfter{900'000};  // for nodes that do not come, or do not help
  std::chrono::milliseconds retryAfter{300'000};   // doubled with each attempt, up to a day
  int maxJobs = 16;                                // that nodes are asked for at a time
  friend bool operator==(const ProvisioningPolicy&, const ProvisioningPolicy&) = default;
};

// What asks for the nodes of one gang: a ProvisioningRequest, or its placeholder pods.
struct NodesRequest {
  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  Uid job;  // its owner
  int attempt = 1;
  base::WallTime created{};
  std::vector<Condition> conditions = {};
  friend bool operator==(const NodesRequest&, const NodesRequest&) = default;
};

namespace conditions {

// Said of jobs only that nodes were asked for.
inline constexpr std::string_view kNodesRequested = "NodesRequested";

}  // namespace conditions

}  // namespace trainyard::model
