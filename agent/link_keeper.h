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

// Keeps the traffic control of one device as the node's jobs want it. It remembers nothing that it could not
// do without: an agent that starts anew takes over what it finds. Lives on the loop of `executor`.
//
// While two jobs or more share the device: looks at it every 5 s, after each change of pods, and at each
// turn. Bursts are measured in windows of 125 looks, a minute apart, the looks further apart where jobs are
// slower: a window costs about 10 ms of CPU time.
class LinkKeeper {
 public:
  LinkKeeper(Kernel& kernel, base::Executor& executor, const base::Logger& log, AgentMetrics& metrics,
             LinkOptions options);
  ~LinkKeeper();
  LinkKeeper(const LinkKeeper&) = delete;
  LinkKeeper& operator=(const LinkKeeper&) = delete;

  // Nothing is changed before the first setTraffic(): what an agent before this one put up must not go for
  // want of a list.
  void start();
  // Bytes a second of the link, from the next look on. 0: nobody knows; nothing is ordered until somebody
  // does.
  void setRate(std::uint64_t bytesPerSecond);
  // The node's pods are these now.
  void setTraffic(NodeTraffic traffic);
  // Takes away what is ours; true once nothing is left. Not before queues have drained, but `force`.
  bool takeDown(bool force);
  // Empty while all is well; else why nothing is ordered.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // The feature that the kernel lacks, if one.
  void setMissing(const std::string& feature, const std::string& message);

 private:
  void schedule(base::Instant when);
  void tick();
  [[nodiscard]] std::vector<JobTraffic> jobsToOrder(const FoundLink& found);
  const core::BandPlan& bandsFor(const std::vector<JobTraffic>& jobs);
  bool apply(const TcChanges& changes);
  void note(const base::Error& error);
  void tell(const core::BandPlan& bands, bool ordering);
  void scheduleLook(base::Instant::duration delay);
  void look();

  Kernel& kernel_;
  base::Executor& executor_;
  base::Logger log_;
  AgentMetrics& metrics_;
  LinkOptions options_;
  NodeTraffic traffic_;
  BurstMeter meter_;
  // The last question and its answer: the fluid model costs milliseconds, and the question is mostly the
  // same.
  core::BandQuestion question_;
  core::BandPlan bands_;
  std::map<std::uint16_t, std::string> jobOf_;  // by class
  // What was ordered, and how, after the last look. Not the classes: who lost his filter gets another one.
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
