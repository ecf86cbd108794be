#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/conditions.h"
#include "model/ids.h"

namespace trainyard::model {

// How nodes that do not exist yet are requested.
enum class ProvisioningBy {
  kDisabled,
  kProvisioningRequest,  // an object of autoscaling.x-k8s.io, which Cluster Autoscaler reads
  kPlaceholderPods,      // pods that never bind, for autoscalers that watch unschedulable pods: Karpenter
};

// The part `provisioning` of the policy file, docs/autoscaling.md. It is separate from Policy because no plan
// depends on it: the operator applies it to jobs that no plan can place.
struct ProvisioningPolicy {
  ProvisioningBy by = ProvisioningBy::kDisabled;
  std::string className = "best-effort-atomic-scale-up.autoscaling.x-k8s.io";
  std::chrono::milliseconds after{10'000};         // pending time before nodes are requested
  std::chrono::milliseconds giveUpAfter{900'000};  // for nodes that do not arrive, or do not help
  std::chrono::milliseconds retryAfter{300'000};   // doubled with each attempt, up to a day
  int maxJobs = 16;                                // with requested nodes at a time
  friend bool operator==(const ProvisioningPolicy&, const ProvisioningPolicy&) = default;
};

// The request for the nodes of one gang: a ProvisioningRequest, or its placeholder pods.
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

// Set only on jobs with requested nodes.
inline constexpr std::string_view kNodesRequested = "NodesRequested";

}  // namespace conditions

}  // namespace trainyard::model
