#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "core/guard/guard_holds.h"
#include "core/guard/guard_view.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/reflector.h"
#include "model/pod.h"

namespace trainyard::sim {

// kube-scheduler's requests to an extender, as calls instead of HTTPS.
class SchedulerExtender {
 public:
  struct Verdict {
    std::vector<std::string> accepted;
    std::vector<std::pair<std::string, std::string>> refused = {};  // node and message
  };

  SchedulerExtender() = default;
  SchedulerExtender(const SchedulerExtender&) = delete;
  SchedulerExtender& operator=(const SchedulerExtender&) = delete;
  virtual ~SchedulerExtender() = default;

  // An error fails the attempt, which is repeated after a back-off.
  [[nodiscard]] virtual base::Result<Verdict> filter(const model::Pod& pod,
                                                     const std::vector<std::string>& nodes) = 0;
  // Returns a score from 0 to 10 for each node, in their order.
  [[nodiscard]] virtual std::vector<int> prioritize(const model::Pod& pod,
                                                    const std::vector<std::string>& nodes) = 0;
};

// The guard with its own watches, as in the extender program: its cache lags independently of the scheduler's
// and the operator's.
class GuardExtender final : public SchedulerExtender {
 public:
  static constexpr std::chrono::seconds kHoldTime{60};

  GuardExtender(kube::ApiClient& api, base::Executor& executor, base::Rng rng, const base::Logger& log);

  void start();
  // A replica that is down answers with errors; it comes back with an empty state and lists everything again.
  void setUp(bool up);

  [[nodiscard]] base::Result<Verdict> filter(const model::Pod& pod,
                                             const std::vector<std::string>& nodes) override;
  [[nodiscard]] std::vector<int> prioritize(const model::Pod& pod,
                                            const std::vector<std::string>& nodes) override;

 private:
  [[nodiscard]] bool synced() const;
  void podChanged(const std::shared_ptr<const model::Pod>& before,
                  const std::shared_ptr<const model::Pod>& after);
  [[nodiscard]] const core::GuardView& view();

  kube::ApiClient& api_;
  base::Executor& executor_;
  base::Rng rng_;
  base::Logger log_;
  bool up_ = true;
  kube::ClusterCache cache_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::unique_ptr<core::GuardView> view_;  // null if something changed since
  core::Holds holds_;
};

}  // namespace trainyard::sim
