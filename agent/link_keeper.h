#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/agent_metrics.h"
#include "agent/burst_meter.h"
#include "agent/kernel.h"
#include "agent/node_traffic.h"
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
// each turn. Bursts are measured in windows of 125 looks, one window a minute. The interval between looks
// grows for slower jobs. A window costs about 10 ms of CPU time.
class LinkKeeper {
 public:
  LinkKeeper(Kernel& kernel, base::Executor& executor, const base::Logger& log, AgentMetrics& metrics,
             LinkOptions options);
  ~LinkKeeper();
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
  void schedule(base::Instant when);
  void tick();
  [[nodiscard]] std::vector<JobTraffic> jobsToOrder(const FoundLink& found);
  const core::BandPlan& bandsFor(const std::vector<JobTraffic>& jobs);
  bool apply(const TcChanges& changes);
  void note(const base::Error& error);
  void report(const core::BandPlan& bands, bool ordering);
  void scheduleLook(base::Instant::duration delay);
  void look();

  Kernel& kernel_;
  base::Executor& executor_;
  base::Logger log_;
  AgentMetrics& metrics_;
  LinkOptions options_;
  NodeTraffic traffic_;
  BurstMeter meter_;
  // The last question and its answer. The fluid model costs
  // milliseconds, and the question rarely changes.
  core::BandQuestion question_;
  core::BandPlan bands_;
  std::map<std::uint16_t, std::string> jobOf_;  // by class
  // The jobs and bands of the last look. Classes are left out: a job without its filters gets another class.
  struct Ordered {
    std::vector<JobTraffic> jobs;
    core::BandPlan bands;
    friend bool operator==(const Ordered&, const Ordered&) = default;
  };
  std::optional<Ordered> last_;
  base::Instant lastShared_{};
  base::TimerId timer_;
  base::Instant due_{};
  base::TimerId lookTimer_;
  int looks_ = 0;
  int slowness_ = 1;
  bool measuring_ = false;
  bool missing_ = false;
  bool stopped_ = false;
  std::string trouble_;
};

}  // namespace trainyard::agent
