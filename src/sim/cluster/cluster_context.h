#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/log.h"
#include "base/rng.h"
#include "base/virtual_loop.h"
#include "core/gang/settings.h"
#include "model/policy.h"
#include "model/provisioning.h"
#include "sim/api/server.h"
#include "sim/api/transport.h"
#include "sim/cluster/invariants.h"
#include "sim/nodes/kubelet.h"
#include "sim/nodes/node_lifecycle.h"
#include "sim/scheduler/scheduler.h"

namespace trainyard::sim {

struct ClusterOptions {
  std::uint64_t seed = 1;
  // The latency of every client's connection, drawn once for each client between half and twice this value.
  std::chrono::microseconds latency{500};
  std::chrono::microseconds watchLag{2'000};
  bool extender = true;
  // Whether there are controllers of Jobs and ReplicaSets, and operators place their gangs.
  bool owners = false;
  // The server's types, if many clusters share them on one thread; null: parsed for this cluster.
  std::shared_ptr<const Registry> types = nullptr;
  core::Settings settings = {};
  model::Policy policy = {};  // the initial policy of operators
  model::ProvisioningPolicy provisioning = {};
  SchedulerOptions scheduler = {};
  KubeletOptions kubelet = {};
  NodeLifecycleOptions nodeLifecycle = {};
  InvariantLimits invariants = {};
  // The faults of operators and of all other clients; they must outlive the cluster.
  FaultPlan* operatorFaults = nullptr;
  FaultPlan* otherFaults = nullptr;
  FaultCounts* faultCounts = nullptr;
  base::LogSink* log = nullptr;  // null: no log
  base::LogLevel logLevel = base::LogLevel::kInfo;
};

// What all programs of a simulated cluster share: its options, its time, its randomness and its log.
struct ClusterContext {
  explicit ClusterContext(ClusterOptions given);

  ClusterOptions options;
  base::Rng rng;  // the order of draws is part of a run
  std::unique_ptr<base::LogSink> silence;
  base::VirtualLoop loop;
  base::Logger log;
};

}  // namespace trainyard::sim
