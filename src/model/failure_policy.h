#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trainyard::model {

// What is started anew when a member fails or is lost.
enum class RestartScope { kGang, kPod };

// One of spec.failure.rules: a user's own word on what a failed pod means.
struct PodFailureRule {
  enum class Action {
    kFailJob,  // it ends, at once
    kCount,    // it starts anew, and that is counted
    kIgnore,   // it starts anew, and that is not
  };
  // Of the containers that ended with an error.
  struct ExitCodes {
    std::string container;  // empty: any
    bool in = true;         // false: an error that is none of `values`
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
  // Counted restarts in the job's whole life; absent: as many as the class of the failure has by itself.
  std::optional<int> maxRestarts = std::nullopt;
  RestartScope scope = RestartScope::kGang;
  std::vector<PodFailureRule> rules = {};  // the first that matches decides
  friend bool operator==(const FailurePolicy&, const FailurePolicy&) = default;
};

}  // namespace trainyard::model
