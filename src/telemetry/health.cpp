#include "telemetry/health.h"

#include <fmt/format.h>

namespace trainyard::telemetry {

void Health::addLivenessCheck(std::string name, Check check) {
  const std::lock_guard lock(mutex_);
  liveness_.emplace_back(std::move(name), std::move(check));
}

void Health::addReadinessCheck(std::string name, Check check) {
  const std::lock_guard lock(mutex_);
  readiness_.emplace_back(std::move(name), std::move(check));
}

Health::Report Health::liveness(bool verbose) const { return run(copyOf(liveness_), verbose); }

Health::Report Health::readiness(bool verbose) const { return run(copyOf(readiness_), verbose); }

// Checks run outside the lock: one that hangs must not block the other probe.
Health::Checks Health::copyOf(const Checks& checks) const {
  const std::lock_guard lock(mutex_);
  return checks;
}

Health::Report Health::run(const Checks& checks, bool verbose) {
  Report report;
  std::string lines;
  for (const auto& [name, check] : checks) {
    const auto outcome = check();
    if (outcome) {
      if (verbose) lines += fmt::format("[+] {} ok\n", name);
      continue;
    }
    report.good = false;
    lines += fmt::format("[-] {} failed: {}\n", name, outcome.error().message);
  }
  report.text = report.good ? lines + "ok\n" : lines;
  return report;
}

}  // namespace trainyard::telemetry
