#include "core/gang/outcome.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/lifecycle/node_endings.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::PodPhase;

std::vector<std::string> rolesThatDecide(const Job& job) {
  if (!job.spec.success.roles.empty()) return job.spec.success.roles;
  static constexpr std::array<std::string_view, 4> kLeaders = {"launcher", "chief", "master", "worker"};
  for (const std::string_view leader : kLeaders) {
    if (job.spec.findRole(leader) != nullptr) return {std::string(leader)};
  }
  std::vector<std::string> all;
  for (const model::Role& role : job.spec.roles) all.push_back(role.name);
  return all;
}

bool successHolds(const Job& job, const std::vector<Member>& members) {
  const std::vector<std::string> deciding = rolesThatDecide(job);
  int total = 0;
  int done = 0;
  for (const Member& member : members) {
    if (std::find(deciding.begin(), deciding.end(), member.role) == deciding.end()) continue;
    ++total;
    done += member.succeeded ? 1 : 0;
  }
  if (total == 0) return false;
  return job.spec.success.op == model::SuccessOperator::kAny ? done > 0 : done == total;
}

// Why the member counts as lost; empty if it does not.
std::string lossOf(const Job& job, const Member& member) {
  if (member.succeeded) return {};
  const model::Pod* pod = member.pod;
  if (pod == nullptr) {
    return fmt::format("pod {} on node {} is gone", model::podName(job.key.name, member.role, member.index),
                       member.node);
  }
  if (pod->phase == PodPhase::kFailed) {
    if (!endedByNode(*pod)) return {};
    if (!pod->disruptionReason.empty()) {
      return fmt::format("pod {} was removed from node {}: {}", pod->key.name, pod->node,
                         pod->disruptionReason);
    }
    return fmt::format("node {} ended pod {}: {}", pod->node, pod->key.name, pod->statusReason);
  }
  if (!pod->terminating) return {};
  const std::string& why = pod->disruptionReason;
  return fmt::format("pod {} on node {} is being deleted{}", pod->key.name, pod->node,
                     why.empty() ? "" : ": " + why);
}

// "; pod bert-worker-0 still runs container istio-proxy, which is not in its template": the first such pod.
std::string describeRemaining(const std::vector<Member>& members) {
  for (const Member& member : members) {
    const bool remains = (member.succeeded || member.failed) && member.pod != nullptr &&
                         member.pod->phase == PodPhase::kRunning && member.pod->partlyEnded != nullptr;
    if (!remains || member.pod->partlyEnded->running.empty()) continue;
    return fmt::format("; pod {} still runs container {}, which is not in its template", member.pod->key.name,
                       member.pod->partlyEnded->running.front());
  }
  return {};
}

// A pod that was deleted, or that its node ended, has not ended for its controller, which makes another.
bool hasEnded(const Member& member) {
  if (member.succeeded) return true;
  if (!member.failed || member.pod->terminating) return false;
  return member.pod->controllerUid.empty() || !endedByNode(*member.pod);
}

// Its controller decides about a Gang, with the rules of its kind. Bare pods have ended when all have.
Verdict judgeOwned(const Job& job, const std::vector<Member>& members) {
  switch (job.owner->end) {
    case model::OwnerEnd::kSucceeded: return {Outcome::kSucceeded, "OwnerSucceeded", job.owner->endMessage};
    case model::OwnerEnd::kFailed: return {Outcome::kFailed, "OwnerFailed", job.owner->endMessage};
    case model::OwnerEnd::kNone: break;
  }
  const bool arePods = job.owner->uid.empty();
  if (!arePods || members.empty() || !std::all_of(members.begin(), members.end(), hasEnded)) return {};
  const auto failed = std::find_if(members.begin(), members.end(), [](const Member& m) { return m.failed; });
  if (failed == members.end()) return {Outcome::kSucceeded, "PodsSucceeded", "all its pods succeeded"};
  return {Outcome::kFailed, "PodFailed", describeFailure(*failed->pod)};
}

}  // namespace

std::string describeFailure(const model::Pod& pod) {
  if (!pod.exit) {
    const std::string& why = pod.statusReason.empty() ? pod.disruptionReason : pod.statusReason;
    return fmt::format("pod {} failed on node {}: {}", pod.key.name, pod.node,
                       why.empty() ? "no reason given" : why);
  }
  std::string text =
      fmt::format("pod {} on node {} ended with exit code {}", pod.key.name, pod.node, pod.exit->code);
  if (!pod.exit->reason.empty()) text += fmt::format(" ({})", pod.exit->reason);
  if (!pod.exit->message.empty()) text += fmt::format(": {}", pod.exit->message);
  return text;
}

Verdict judge(const Job& job, const std::vector<Member>& members) {
  if (job.owner != nullptr) return judgeOwned(job, members);
  if (successHolds(job, members))
    return {Outcome::kSucceeded, "RolesSucceeded",
            "all members that spec.success requires ended with exit code 0" + describeRemaining(members)};
  Verdict lost{Outcome::kLost, "MemberLost"};
  for (const Member& member : members) {
    const std::string why = lossOf(job, member);
    if (why.empty()) continue;
    if (lost.lost.empty()) lost.message = why;
    lost.lost.push_back(member);
  }
  if (!lost.lost.empty()) return lost;
  Verdict failed{Outcome::kFailed, "MemberFailed"};
  for (const Member& member : members) {
    if (member.failed) failed.failed.push_back(member);
  }
  if (failed.failed.empty()) return {};
  failed.message = describeFailure(*failed.failed.front().pod) + describeRemaining(members);
  return failed;
}

}  // namespace trainyard::core
