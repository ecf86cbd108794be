#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agent/agent_metrics.h"
#include "agent/kernel.h"
#include "agent/link_keeper.h"
#include "agent/process.h"
#include "base/executor.h"
#include "base/log.h"

namespace trainyard::agent {

// The link of this node: finds its device and rate, and has its traffic ordered (LinkKeeper).
class NodeLink {
 public:
  NodeLink(const ProcessOptions& options, base::Executor& executor, const base::Logger& log,
           AgentMetrics& metrics)
      : options_(options), executor_(executor), log_(log), metrics_(metrics) {}
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  // Call once, before anything else. Fails without a device, or with an unusable --rate.
  [[nodiscard]] base::Result<void> open();
  [[nodiscard]] LinkKeeper& keeper() { return *keeper_; }
  // Call every few seconds: a device that was down, or still negotiates its speed, reports the rate later.
  void askForRate();

 private:
  [[nodiscard]] base::Result<std::uint64_t> readRate() const;
  void probeKernel();

  const ProcessOptions& options_;
  base::Executor& executor_;
  base::Logger log_;
  AgentMetrics& metrics_;
  std::unique_ptr<Kernel> kernel_;
  std::string device_;
  std::unique_ptr<LinkKeeper> keeper_;
  bool rateKnown_ = true;
};

}  // namespace trainyard::agent
