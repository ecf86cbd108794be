#include "agent/burst_watch.h"

#include <algorithm>
#include <chrono>

namespace trainyard::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLook{20};
constexpr int kLooks = 125;
constexpr seconds kBetweenWindows{60};
constexpr int kSlowest = 32;

}  // namespace

void BurstWatch::setJobs(const std::vector<std::string>& uids) {
  meter_.keep(uids);
  jobs_ = uids.size();
}

void BurstWatch::begin() {
  if (!measuring_) lookAfter(milliseconds(0));
}

void BurstWatch::stop() {
  stopped_ = true;
  executor_.cancel(timer_);
}

void BurstWatch::lookAfter(base::Instant::duration delay) {
  if (stopped_) return;
  measuring_ = true;
  timer_ = executor_.postAfter(delay, [this] { look(); });
}

void BurstWatch::look() {
  const auto found = device_.readClasses();
  if (!found || found->empty() || jobs_ < 2) {
    measuring_ = false;
    looks_ = 0;
    return;
  }
  if (looks_ == 0) meter_.begin();
  std::vector<BurstMeter::Look> seen;
  for (const FoundClass& each : *found) {
    const auto job = jobOf_.find(each.shape.minor);
    if (job != jobOf_.end()) seen.push_back({job->second, each.sentBytes, each.waitingPackets > 0});
  }
  meter_.look(executor_.now(), seen);
  if (++looks_ < kLooks) return lookAfter(kLook * slowness_);
  looks_ = 0;
  slowness_ = meter_.end() ? slowness_ : std::min(slowness_ * 2, kSlowest);
  measured_();
  lookAfter(kBetweenWindows);
}

}  // namespace trainyard::agent
