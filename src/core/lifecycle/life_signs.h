#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/job.h"

namespace trainyard::core {

// What the logs of a running job show about its progress.
struct LifeSign {
  // The new value of status.progress; absent: status.progress keeps its value.
  std::optional<model::Progress> progress = std::nullopt;
  // Since when the job is silent, if longer than spec.health.stallSeconds; absent: it is alive.
  std::optional<base::WallTime> silentSince = std::nullopt;
  friend bool operator==(const LifeSign&, const LifeSign&) = default;
};

// Returns when a job counts as stalled if its last sign of life (a report, or a new log line) was at `last`.
// Returns nullopt if the job does not set spec.health.stallSeconds.
[[nodiscard]] std::optional<base::WallTime> stallsAt(const model::HealthPolicy& health, base::WallTime last);

// Returns true if a decision needs the job's reports (checkpoints, stalls, sizes, plans): read more often.
[[nodiscard]] bool wantsReports(const model::JobSpec& spec);

// Measures the step rate of one start from the times of its reports. It covers the last five to ten minutes
// where reports go back so far: a slow beginning drops out, and one slow step does not dominate.
class StepRate {
 public:
  void note(std::int64_t step, base::WallTime at);
  // Returns the time until step `total` at that rate; nullopt before two reports with different steps.
  [[nodiscard]] std::optional<std::chrono::seconds> remaining(std::int64_t total) const;

 private:
  struct Point {
    std::int64_t step = 0;
    base::WallTime at{};
  };
  std::optional<Point> older_;  // the rate is measured from here
  std::optional<Point> newer_;  // replaces older_ after kSpan
  std::optional<Point> last_;
};

}  // namespace trainyard::core
