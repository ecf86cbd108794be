#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "model/failure_class.h"
#include "model/failure_policy.h"
#include "model/job.h"

namespace trainyard::core {

// The cause of a gang's failure, as far as the classifier found it.
struct Failure {
  model::FailureClass failure = model::FailureClass::kUnknown;
  // The action of a rule in the policy file, where it differs from that of the class.
  std::optional<model::FailureAction> action = std::nullopt;
  std::string message;   // one sentence from the log or the node's report; may be empty
  std::string pod;       // the member that failed first, or for the root reason
  model::NodeName node;  // the node of that pod
  std::optional<int> exitCode = std::nullopt;
  friend bool operator==(const Failure&, const Failure&) = default;
};

// The longest pause before a restart.
inline constexpr std::chrono::seconds kLongestPause{600};

// The reaction to a failure.
struct FollowUp {
  bool restart = false;
  bool counts = false;     // whether this restart counts against spec.failure.maxRestarts
  bool elsewhere = false;  // whether to avoid the failed node, where other nodes fit
  bool moreMemory = false;
  std::chrono::seconds pause{0};  // before the next start
  std::string why;                // "ImportError would fail again"
  friend bool operator==(const FollowUp&, const FollowUp&) = default;
};

// The steps, in this order:
//  1 rule     the action of the user's own rule, where one matches
//  2 class    the action and budget of the class. Failures that are the user's, and Unknown and
//             Stalled, count against maxRestarts; for the last two a given maxRestarts replaces the budget;
//             failures of the infrastructure do not count
//  3 cap      maxRestarts limits the counted restarts of all classes together
// The first restart for a class has no pause: most transient errors have passed by then. The n-th restart
// waits 10 s x 2^(n-2), at most ten minutes.
[[nodiscard]] FollowUp followUp(const model::FailurePolicy& policy, const model::Restarts& soFar,
                                const Failure& failure, const model::PodFailureRule* rule);

}  // namespace trainyard::core
