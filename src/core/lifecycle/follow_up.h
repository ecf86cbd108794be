#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "model/failure_class.h"
#include "model/failure_policy.h"
#include "model/job.h"

namespace trainyard::core {

// What a gang failed of, as far as anybody could find out.
struct Failure {
  model::FailureClass failure = model::FailureClass::kUnknown;
  // Of a rule of the policy file, where that says otherwise than the class.
  std::optional<model::FailureAction> action = std::nullopt;
  std::string message;   // a sentence that tells it, as its log or its node did; may be empty
  std::string pod;       // the member that failed first, or for the root reason
  model::NodeName node;  // its own
  std::optional<int> exitCode = std::nullopt;
  friend bool operator==(const Failure&, const Failure&) = default;
};

// The longest pause before a restart.
inline constexpr std::chrono::seconds kLongestPause{600};

// What is done about it.
struct FollowUp {
  bool restart = false;
  bool counts = false;     // against spec.failure.maxRestarts
  bool elsewhere = false;  // not on the node of the failure, where others will do
  bool moreMemory = false;
  std::chrono::seconds pause{0};  // before the next start
  std::string why;                // "ImportError would fail again"
  friend bool operator==(const FollowUp&, const FollowUp&) = default;
};

// In this order:
//  1 rule     what the user's own rule says, where one matches
//  2 class    its action and budget. Classes of the user's count against maxRestarts, and so do
//             Unknown and Stalled, for which a maxRestarts that is given is the budget itself; those of the
//             infrastructure do not
//  3 cap      maxRestarts of counted restarts, of whatever class
// The first restart of a class comes at once: most that passes has passed by then. The n-th waits 10 s x
// 2^(n-2), at most ten minutes.
[[nodiscard]] FollowUp followUp(const model::FailurePolicy& policy, const model::Restarts& soFar,
                                const Failure& failure, const model::PodFailureRule* rule);

}  // namespace trainyard::core
