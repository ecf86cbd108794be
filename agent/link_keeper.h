#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/agent_metrics.h"
#include "agent/band_planner.h"
#include "agent/burst_watch.h"
#include "agent/kernel.h"
#include "agent/link_device.h"
#include "agent/node_traffic.h"
#include "base/earliest_timer.h"
#include "base/executor.h"
#include "base/log.h"
#include "core/network/bands.h"

namespace trainyard::agent {

struct LinkOptions {
  std::string device;
  LinkSettings settings;
  core::BandPolicy policy = core::BandPolicy::kBursts;
  std::chrono::seconds turn = core::kTurn;
};

// Keeps the traffic control of one device as the node's jobs need it. All essential state is in the kernel: a
// restarted agent continues from what it finds there. Runs on the loop of `executor`.
//
// While two or more jobs share the device, the device is read every 5 s, after each change of pods, and at
// each turn.
class LinkKeeper {
 public:
  LinkKeeper(Kernel& kernel, base::Executor& executor, const base::Logger& log, AgentMetrics& metrics,
             const LinkOptions& options);
  LinkKeeper(const LinkKeeper&) = delete;
  LinkKeeper& operator=(const LinkKeeper&) = delete;

  // Changes nothing before the first setTraffic(): the classes of an earlier agent must not be removed
  // because the list of pods is not read yet.
  void start();
  // Sets the rate of the link in bytes a second; it applies from the next look on.
  // 0: the rate is unknown, and nothing is ordered.
  void setRate(std::uint64_t bytesPerSecond);
  // Replaces the traffic of the node's pods.
  void setTraffic(NodeTraffic traffic);
  // Removes our qdisc, if its queues are empty or with `force`. Returns true once nothing is left to remove.
  bool takeDown(bool force);
  // Records a feature that the kernel lacks; nothing is ordered from then on.
  void setMissing(const std::string& feature, const std::string& message);

 private:
  // The jobs and bands of one look. Classes are left out: a job without its filters gets another class.
  struct Ordered {
    std::vector<JobTraffic> jobs;
    core::BandPlan bands;
    friend bool operator==(const Ordered&, const Ordered&) = default;
  };

  void tick();
  [[nodiscard]] std::vector<JobTraffic> jobsToOrder(const FoundLink& found);
  const core::BandPlan& bandsFor(const std::vector<JobTraffic>& jobs);
  void apply(const TcChanges& changes, Ordered ordered, base::Instant now);
  void report(const core::BandPlan& bands, bool ordering);

  base::Executor& executor_;
  base::Logger log_;
  AgentMetrics& metrics_;
  LinkSettings settings_;
  LinkDevice device_;
  BandPlanner planner_;
  base::EarliestTimer timer_;
  BurstWatch bursts_;
  NodeTraffic traffic_;
  std::optional<Ordered> last_;  // if all of it was applied
  base::Instant lastShared_{};
};

}  // namespace trainyard::agent
