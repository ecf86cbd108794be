#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trainyard::model {

// The part that restarts when a member fails or is lost.
enum class RestartScope { kGang, kPod };

// One of spec.failure.rules: the user's own reaction to a failed pod.
struct PodFailureRule {
  enum class Action {
    kFailJob,  // the job fails at once
    kCount,    // the gang restarts, and the restart counts
    kIgnore,   // the gang restarts, and the restart does not count
  };
  // Matches containers that ended with an error.
  struct ExitCodes {
    std::string container;  // empty: any
    bool in = true;         // false: an error code other than `values`
    std::vector<int> values;
    friend bool operator==(const ExitCodes&, const ExitCodes&) = default;
  };
  struct PodCondition {
    std::string type;
    std::string status;  // "True", "False", "Unknown"
    friend bool operator==(const PodCondition&, const PodCondition&) = default;
  };

  Action action = Action::kFailJob;
  std::vector<std::string> roles = {};           // empty: every role
  std::optional<ExitCodes> exitCodes = {};       // either this
  std::vector<PodCondition> podConditions = {};  // or any of these
  friend bool operator==(const PodFailureRule&, const PodFailureRule&) = default;
};

// spec.failure.
struct FailurePolicy {
  // Counted restarts in the job's whole life; absent: each failure class has its own default.
  std::optional<int> maxRestarts = std::nullopt;
  RestartScope scope = RestartScope::kGang;
  std::vector<PodFailureRule> rules = {};  // the first match decides
  friend bool operator==(const FailurePolicy&, const FailurePolicy&) = default;
};

}  // namespace trainyard::model
