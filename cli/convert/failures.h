#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/convert/value.h"

namespace trainyard::cli {

// What follows a member's failure in the other system; included by the converters alone.
enum class OnFailure {
  kEnd,         // the job fails
  kRestart,     // it is started again, and that is counted
  kByExitCode,  // codes from 128 on are started again, others end the job
};

// Collects what follows failures of each role, and writes it as spec.failure.
class FailureDraft {
 public:
  void role(const std::string& name, OnFailure what) { roles_.push_back({name, what}); }
  // A rule of its own, which comes before those of roles. No roles: all.
  void exitCode(int code, OnFailure what, std::vector<std::string> roles);
  void disruption(std::vector<std::string> roles);  // a member that is evicted ends the job
  // How many restarts; without it as many as the field takes.
  void limit(Json restarts) { limit_ = std::move(restarts); }
  // Only the failed member is started again.
  void memberOnly() { memberOnly_ = true; }

  // spec.failure; null where nothing was collected.
  [[nodiscard]] Json write() const;

 private:
  struct OfRole {
    std::string name;
    OnFailure what;
  };
  [[nodiscard]] std::vector<std::string> rolesWith(OnFailure what) const;

  std::vector<OfRole> roles_;
  std::vector<Json> rules_;
  std::optional<Json> limit_;
  bool memberOnly_ = false;
};

// The most that spec.failure.maxRestarts takes, for systems that restart for ever.
inline constexpr int kMostRestarts = 1000;

}  // namespace trainyard::cli
