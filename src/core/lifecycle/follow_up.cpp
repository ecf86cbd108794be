#include "core/lifecycle/follow_up.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/lifecycle/failure_class.h"

namespace trainyard::core {
namespace {

using model::FailureAction;
using Rule = model::PodFailureRule::Action;
using std::chrono::seconds;

constexpr seconds kFirstPause{10};

seconds pauseBefore(int restart) {
  if (restart <= 1) return seconds(0);
  seconds pause = kFirstPause;
  for (int i = 2; i < restart && pause < kLongestPause; ++i) pause *= 2;
  return std::min(pause, kLongestPause);
}

std::string times(int count) { return count == 1 ? "once" : fmt::format("{} times", count); }

constexpr int kNoEnd = std::numeric_limits<int>::max();

// The action for one failure, and how many restarts it allows.
struct Budget {
  FailureAction action = FailureAction::kRestart;
  int restarts = kNoEnd;
};

Budget budgetOf(const model::FailurePolicy& policy, const Failure& failure,
                const model::PodFailureRule* rule) {
  const DefaultReaction follows = defaultReaction(failure.failure);
  Budget budget{follows.action, follows.restarts.value_or(kNoEnd)};
  if (failure.action) budget.action = *failure.action;
  // An administrator's rule may restart a class that has no restarts of its own.
  if (budget.action != FailureAction::kEndNow) budget.restarts = std::max(budget.restarts, 1);
  const bool usesMaxRestarts =
      partyOf(failure.failure) == model::Party::kUnknown && policy.maxRestarts.has_value();
  if (usesMaxRestarts || rule != nullptr) budget.restarts = kNoEnd;
  // A user's rule overrides a class that would end the job: it may rely on facts about the program.
  if (rule != nullptr && budget.action == FailureAction::kEndNow) budget.action = FailureAction::kRestart;
  return budget;
}

// Returns why the gang may not restart; empty if it may.
std::string exhausted(const model::FailurePolicy& policy, const model::Restarts& soFar,
                      const Failure& failure, const Budget& budget, bool counts) {
  const std::string_view name = toString(failure.failure);
  if (budget.action == FailureAction::kEndNow) return fmt::format("{} would fail again", name);
  if (soFar.of(failure.failure) >= budget.restarts)
    return fmt::format("{} was already retried {}, giving up", name, times(budget.restarts));
  const int most = policy.maxRestarts.value_or(kNoEnd);
  if (!counts || soFar.counted < most) return {};
  return most == 0 ? "spec.failure.maxRestarts is 0"
                   : fmt::format("it was already retried {}, as often as spec.failure.maxRestarts allows",
                                 times(most));
}

}  // namespace

FollowUp followUp(const model::FailurePolicy& policy, const model::Restarts& soFar, const Failure& failure,
                  const model::PodFailureRule* rule) {
  FollowUp next;
  if (rule != nullptr && rule->action == Rule::kFailJob) {
    next.why = "a rule of spec.failure.rules ends the job";
    return next;
  }
  const Budget budget = budgetOf(policy, failure, rule);
  next.counts = rule != nullptr ? rule->action == Rule::kCount
                                : partyOf(failure.failure) != model::Party::kInfrastructure;
  next.why = exhausted(policy, soFar, failure, budget, next.counts);
  if (!next.why.empty()) return next;
  next.restart = true;
  next.elsewhere = budget.action == FailureAction::kRestartElsewhere;
  next.moreMemory = budget.action == FailureAction::kRestartMoreMemory;
  next.pause = pauseBefore(soFar.of(failure.failure) + 1);
  next.why = fmt::format("{}: restarts{}", toString(failure.failure),
                         next.elsewhere    ? " elsewhere"
                         : next.moreMemory ? " with 1.5 times the memory"
                                           : "");
  return next;
}

}  // namespace trainyard::core
