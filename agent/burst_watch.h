#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/burst_meter.h"
#include "agent/link_device.h"
#include "base/executor.h"

namespace trainyard::agent {

// Measures the bursts of jobs that share the device, in windows of 125 looks at the counters of their
// classes, one window a minute. The interval between looks grows for slower jobs. A window costs about 10 ms
// of CPU time.
class BurstWatch {
 public:
  // Calls `measured` after each window.
  BurstWatch(LinkDevice& device, base::Executor& executor, std::function<void()> measured)
      : device_(device), executor_(executor), measured_(std::move(measured)) {}
  ~BurstWatch() { executor_.cancel(timer_); }
  BurstWatch(const BurstWatch&) = delete;
  BurstWatch& operator=(const BurstWatch&) = delete;

  // The jobs of the node, by uid. Measurements of other jobs are dropped.
  void setJobs(const std::vector<std::string>& uids);
  // The uid of the job of each class.
  void setClasses(std::map<std::uint16_t, std::string> jobOf) { jobOf_ = std::move(jobOf); }
  // Begins with a window, unless windows follow each other already. They end when jobs share no device.
  void begin();
  // No window begins or goes on from now on.
  void stop();

  [[nodiscard]] std::optional<core::BurstProfile> burstOf(const std::string& uid) const {
    return meter_.burstOf(uid);
  }

 private:
  void lookAfter(base::Instant::duration delay);
  void look();

  LinkDevice& device_;
  base::Executor& executor_;
  std::function<void()> measured_;
  BurstMeter meter_;
  std::size_t jobs_ = 0;
  std::map<std::uint16_t, std::string> jobOf_;  // by class
  base::TimerId timer_;
  int looks_ = 0;
  int slowness_ = 1;
  bool measuring_ = false;
  bool stopped_ = false;
};

}  // namespace trainyard::agent
