#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/convert/value.h"

namespace trainyard::cli {

// The reaction of the other system to a member's failure; only converters include this file.
enum class OnFailure {
  kEnd,         // the job fails
  kRestart,     // the member restarts, and the restart is counted
  kByExitCode,  // codes from 128 on restart the member, others end the job
};

// Collects the reactions to failures of each role, and writes them as spec.failure.
class FailureDraft {
 public:
  void role(const std::string& name, OnFailure what) { roles_.push_back({name, what}); }
  // Adds a rule for one exit code; it comes before the rules of roles. No roles: all roles.
  void exitCode(int code, OnFailure what, std::vector<std::string> roles);
  void disruption(std::vector<std::string> roles);  // an evicted member ends the job
  // Sets the number of restarts; without it, the largest number that the field accepts.
  void limit(Json restarts) { limit_ = std::move(restarts); }
  // Only the failed member restarts.
  void memberOnly() { memberOnly_ = true; }

  // Returns spec.failure; null if nothing was collected.
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

// The largest value of spec.failure.maxRestarts, for systems that restart forever.
inline constexpr int kMaxRestarts = 1000;

}  // namespace trainyard::cli
