#include "core/autoscaling/nodes_wanted.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace trainyard::core {
namespace {

using model::Condition;
using model::ConditionStatus;
using model::NodesRequest;
using model::ProvisioningPolicy;
using std::chrono::milliseconds;

constexpr milliseconds kLongestBackoff = std::chrono::hours(24);

// Conditions that mark a request as failed; the last two revoke an earlier Provisioned.
constexpr std::array<std::string_view, 3> kFailures = {"Failed", "BookingExpired", "CapacityRevoked"};
constexpr std::string_view kTimedOut = "TimedOut";
constexpr std::string_view kRefused = "NotAsked";

bool isFailure(std::string_view reason) {
  return reason == kTimedOut || reason == kRefused ||
         std::find(kFailures.begin(), kFailures.end(), reason) != kFailures.end();
}

const Condition* trueCondition(const NodesRequest& request, std::string_view type) {
  const auto found = std::find_if(
      request.conditions.begin(), request.conditions.end(),
      [&](const Condition& each) { return each.type == type && each.status == ConditionStatus::kTrue; });
  return found == request.conditions.end() ? nullptr : &*found;
}

const Condition* conditionOf(const NodesRequest& request, std::string_view type) {
  const auto found = std::find_if(request.conditions.begin(), request.conditions.end(),
                                  [&](const Condition& each) { return each.type == type; });
  return found == request.conditions.end() ? nullptr : &*found;
}

// "15m", "1h30m", "20s".
std::string spanText(milliseconds span) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(span).count();
  std::string text;
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds % 3600 >= 60) text += fmt::format("{}m", seconds % 3600 / 60);
  if (seconds % 60 != 0 || text.empty()) text += fmt::format("{}s", seconds % 60);
  return text;
}

NodesReport failure(const ProvisioningPolicy& policy, int attempt, std::string_view reason,
                    const std::string& why) {
  return {.asked = false,
          .reason = std::string(reason),
          .message = fmt::format("attempt {} to get nodes failed: {}; the next one starts after {}", attempt,
                                 why, spanText(nodesBackoff(policy, attempt))),
          .isWarning = true};
}

std::string textOf(const Condition& condition) {
  if (condition.message.empty()) return condition.reason.empty() ? condition.type : condition.reason;
  return condition.message;
}

// The state of a request: the reason of its failure, or else how long it may stay open.
struct RequestState {
  std::optional<NodesReport> failed;
  NodesReport report;
  base::WallTime until{};
};

RequestState judge(const NodesRequest& request, const ProvisioningPolicy& policy, base::WallTime now) {
  RequestState state;
  for (const std::string_view type : kFailures) {
    if (const Condition* condition = trueCondition(request, type)) {
      state.failed = failure(policy, request.attempt, type, textOf(*condition));
      return state;
    }
  }
  const std::string limit = spanText(policy.giveUpAfter);
  if (const Condition* provisioned = trueCondition(request, "Provisioned")) {
    state.until = provisioned->lastTransition + policy.giveUpAfter;
    state.report = {.asked = true,
                    .reason = "Provisioned",
                    .message = fmt::format("the nodes exist: {}", textOf(*provisioned))};
    if (now >= state.until)
      state.failed = failure(policy, request.attempt, kTimedOut,
                             fmt::format("{} after the nodes were added the job is still not placed", limit));
    return state;
  }
  state.until = request.created + policy.giveUpAfter;
  const Condition* accepted = trueCondition(request, "Accepted");
  const Condition* notYet = conditionOf(request, "Provisioned");
  state.report =
      accepted != nullptr
          ? NodesReport{.asked = true,
                        .reason = "Accepted",
                        .message = fmt::format("an autoscaler is adding nodes for {}", request.key.name)}
          : NodesReport{.asked = true,
                        .reason = "Asked",
                        .message = fmt::format("nodes are requested by {}", request.key.name)};
  if (notYet != nullptr && !notYet->message.empty())
    state.report.message += fmt::format(": {}", notYet->message);
  if (now >= state.until)
    state.failed =
        failure(policy, request.attempt, kTimedOut, fmt::format("no nodes were added within {}", limit));
  return state;
}

// Returns why the job no longer wants nodes, if its condition still reports a request or a failure.
std::optional<NodesReport> settled(const model::Job& job) {
  const Condition* reported = job.condition(model::conditions::kNodesRequested);
  if (reported == nullptr) return std::nullopt;
  const bool asked = reported->status == ConditionStatus::kTrue;
  if (!asked && !isFailure(reported->reason)) return std::nullopt;
  if (job.status.gang.placed || job.status.gang.proposal)
    return NodesReport{.asked = false, .reason = "Placed", .message = "the job is placed"};
  if (job.spec.run.suspend)
    return NodesReport{.asked = false, .reason = "Suspended", .message = "spec.run.suspend is true"};
  if (!asked) return std::nullopt;
  return NodesReport{
      .asked = false, .reason = "NotWanted", .message = "the job no longer waits for more nodes"};
}

// After a restart of the operator, a failure in the job's condition counts as the first attempt.
NodesHistory recalled(const model::Job& job, const NodesHistory& memory, const ProvisioningPolicy& policy) {
  const Condition* reported = job.condition(model::conditions::kNodesRequested);
  if (memory.attempts > 0 || reported == nullptr || reported->status == ConditionStatus::kTrue ||
      !isFailure(reported->reason))
    return memory;
  return {1, reported->lastTransition + nodesBackoff(policy, 1)};
}

}  // namespace

bool wantsNodes(const model::Job& job, const std::vector<model::TopologyLevel>& levels) {
  const model::GangRecord& gang = job.status.gang;
  if (!job.status.pending || gang.placed || gang.proposal || gang.backoff) return false;
  if (job.deleting || job.finished() || job.spec.run.suspend || !job.specError.empty()) return false;
  // No new node can belong to a level that the cluster's topology does not have.
  const std::string& required = job.spec.locality.required;
  const bool known = required.empty() || std::any_of(levels.begin(), levels.end(), [&](const auto& level) {
                       return level.name == required;
                     });
  if (!known) return false;
  return model::traitsOf(job.status.pending->reason).wantsNodes;
}

milliseconds nodesBackoff(const ProvisioningPolicy& policy, int attempt) {
  milliseconds backoff = policy.retryAfter;
  for (int i = 1; i < attempt && backoff < kLongestBackoff; ++i) backoff *= 2;
  return std::min(backoff, kLongestBackoff);
}

std::vector<std::size_t> selectRequesters(const std::vector<const model::Job*>& wanting,
                                          std::map<std::string, int> open, int more) {
  std::vector<std::size_t> left(wanting.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    const int ofA = open[wanting[a]->key.ns];
    const int ofB = open[wanting[b]->key.ns];
    return std::tie(ofA, wanting[a]->created, a) < std::tie(ofB, wanting[b]->created, b);
  };
  std::vector<std::size_t> chosen;
  for (; more > 0 && !left.empty(); --more) {
    const auto next = std::min_element(left.begin(), left.end(), before);
    ++open[wanting[*next]->key.ns];
    chosen.push_back(*next);
    left.erase(next);
  }
  return chosen;
}

NodesReport nodesRefused(const ProvisioningPolicy& policy, int attempt, const std::string& why) {
  return failure(policy, attempt, kRefused, why);
}

NodesDecision decideNodes(const model::Job& job, bool wants, const NodesRequest* request,
                          const NodesHistory& memory, const ProvisioningPolicy& policy, base::WallTime now) {
  NodesDecision decision;
  if (!wants || policy.by == model::ProvisioningBy::kDisabled) {
    if (!job.deleting) decision.report = settled(job);
    if (request != nullptr) decision.step = NodesStep::kWithdraw;
    return decision;
  }
  if (request != nullptr) {
    RequestState state = judge(*request, policy, now);
    decision.attempt = request->attempt;
    if (!state.failed) {
      decision.report = std::move(state.report);
      decision.wakeAt = state.until;
      return decision;
    }
    decision.report = std::move(state.failed);
    decision.step = NodesStep::kWithdraw;
    decision.failed = true;
    return decision;
  }
  const NodesHistory known = recalled(job, memory, policy);
  const base::WallTime due =
      std::max(job.status.pending->since + policy.after, known.notBefore.value_or(base::WallTime{}));
  if (now < due) {
    decision.wakeAt = due;
    return decision;
  }
  decision.step = NodesStep::kRequest;
  decision.attempt = known.attempts + 1;
  return decision;
}

}  // namespace trainyard::core
