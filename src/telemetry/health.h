#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainyard::telemetry {

// Named checks behind /healthz (should this process be restarted?) and /readyz (may it receive work?). Checks
// run on server threads, so they must be quick and thread-safe.
class Health {
 public:
  using Check = std::function<base::Result<void>()>;

  void addLivenessCheck(std::string name, Check check);
  void addReadinessCheck(std::string name, Check check);

  struct Report {
    bool good = true;
    std::string text;  // "ok", or the failed check and its error; verbose: a line for each check
  };
  [[nodiscard]] Report liveness(bool verbose) const;
  [[nodiscard]] Report readiness(bool verbose) const;

 private:
  using Checks = std::vector<std::pair<std::string, Check>>;
  [[nodiscard]] Checks copyOf(const Checks& checks) const;
  [[nodiscard]] static Report run(const Checks& checks, bool verbose);

  mutable std::mutex mutex_;
  Checks liveness_;
  Checks readiness_;
};

}  // namespace trainyard::telemetry
