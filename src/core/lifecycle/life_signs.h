#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/job.h"

namespace trainyard::core {

// News of a running job from its own mouth: what its logs tell.
struct LifeSign {
  // To be written as status.progress; absent: what is there stays.
  std::optional<model::Progress> progress = std::nullopt;
  // Since when it has been silent, where that is longer than spec.health.stallSeconds; absent: it lives.
  std::optional<base::WallTime> silentSince = std::nullopt;
  friend bool operator==(const LifeSign&, const LifeSign&) = default;
};

// When a job counts as stalled whose last sign of life (a report, or a new line in a log) was at `last`;
// nothing where it does not ask for that.
[[nodiscard]] std::optional<base::WallTime> stallsAt(const model::HealthPolicy& health, base::WallTime last);

// Whether somebody waits for what the job reports: it is looked at more often.
[[nodiscard]] bool wantsReports(const model::JobSpec& spec);

// How fast the steps of one start go by, from the times of its reports: over the last five to ten minutes
// where there are so many, so that a slow beginning is forgotten and one slow step is not all there is.
class StepRate {
 public:
  void note(std::int64_t step, base::WallTime at);
  // Until `total`, at that rate; nothing before two reports with different steps are known.
  [[nodiscard]] std::optional<std::chrono::seconds> remaining(std::int64_t total) const;

 private:
  struct Point {
    std::int64_t step = 0;
    base::WallTime at{};
  };
  std::optional<Point> older_;  // from which the rate is taken
  std::optional<Point> newer_;  // which takes its place
  std::optional<Point> last_;
};

}  // namespace trainyard::core
