#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/gang/action.h"
#include "core/gang/settings.h"
#include "core/ledger/ledger.h"
#include "model/pod.h"

namespace trainyard::core {

// Deletes pods by uid, once, with the grace period that they request, at most Settings::maxGrace, and waits
// until they are gone. A pod that is stuck in Terminating is deleted by force only when its node is gone, is
// tainted out-of-service, or has not been ready for Settings::unreachableGrace. Otherwise its process may
// still run, and a second one with the same rank would corrupt the job.
class Removal {
 public:
  Removal(const Ledger& ledger, const Settings& settings, base::WallTime now)
      : ledger_(ledger), settings_(settings), now_(now) {}

  void remove(const model::Pod& pod);

  // The grace period that the pod requests, limited to the longest one permitted.
  [[nodiscard]] static std::chrono::seconds graceOf(const model::Pod& pod, const Settings& settings) {
    return std::min(pod.grace, settings.maxGrace);
  }

  // Whether the pod was deleted with more time than Settings::maxGrace; that can be shortened.
  [[nodiscard]] static bool outlasts(const model::Pod& pod, const Settings& settings, base::WallTime now);

  // Whether nothing was left to remove.
  [[nodiscard]] bool done() const { return !anyLeft_; }
  [[nodiscard]] std::vector<Action> takeActions() { return std::move(actions_); }
  // When a pod's grace period ends, or when a stuck one may be forced.
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const { return wakeAt_; }

 private:
  // When the pod may be deleted by force; empty if it may not in its present state.
  [[nodiscard]] std::optional<base::WallTime> forceTime(const model::Pod& pod) const;

  const Ledger& ledger_;
  const Settings& settings_;
  base::WallTime now_;
  std::vector<Action> actions_;
  std::optional<base::WallTime> wakeAt_;
  bool anyLeft_ = false;
};

}  // namespace trainyard::core
