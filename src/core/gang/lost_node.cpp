#include "core/gang/lost_node.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/lifecycle.h"

namespace trainyard::core {
namespace {

using model::NodeName;

// kube-scheduler's message names what a pod that is pinned to one node lacks there. All that the extender
// refuses is for capacity (core/guard/refusal_texts.h).
bool isForCapacity(const std::string& unschedulable) {
  constexpr std::array kTexts{"Insufficient ", "Too many pods", "trainyard: "};
  return std::any_of(kTexts.begin(), kTexts.end(),
                     [&](const char* each) { return unschedulable.find(each) != std::string::npos; });
}

}  // namespace

std::optional<LostNode> findRefused(const std::vector<Member>& members) {
  for (const Member& member : members) {
    const model::Pod* pod = member.pod;
    if (pod == nullptr || pod->phase != model::PodPhase::kFailed) continue;
    if (pod->exit && endedByNode(*pod) != model::FailureClass::kAdmissionRefused) continue;
    return LostNode{fmt::format("node {} refused pod {}: {}", pod->node, pod->key.name, pod->statusReason),
                    {member.node}};
  }
  return std::nullopt;
}

namespace {

// Whether the ledger shows that the node lacks capacity for what is assigned to it, this pod included.
bool isOverfull(const Ledger& ledger, const NodeName& name, const model::Pod& pod) {
  const auto at = ledger.find(name);
  if (!at) return false;
  model::Resources free = ledger.nodes()[*at].free;
  free.add(pod.shape.requests);
  return free.shortfallFor(pod.shape.requests).has_value();
}

// The nodes for which kube-scheduler does not bind the members that were released to them, and that the next
// plan would choose again. The plan sees what the ledger counts. It does not see what kube-scheduler alone
// knows, such as a pod that it is about to bind.
std::vector<NodeName> nodesNotGiven(const std::vector<Member>& members, const Ledger& ledger) {
  std::vector<NodeName> nodes;
  for (const Member& member : members) {
    const model::Pod* pod = member.pod;
    if (pod == nullptr || pod->bound() || pod->gangGated || pod->unschedulableMessage.empty()) continue;
    if (isForCapacity(pod->unschedulableMessage) && isOverfull(ledger, member.node, *pod)) continue;
    nodes.push_back(member.node);
  }
  return nodes;
}

}  // namespace

std::optional<LostNode> findLostNode(const std::vector<Member>& members, const GangContext& context,
                                     std::optional<base::WallTime>& wakeAt) {
  if (auto refused = findRefused(members)) return refused;
  for (const Member& member : members) {
    const model::Pod* pod = member.pod;
    if (pod == nullptr)
      return LostNode{fmt::format("member {}-{} was deleted", member.role, member.index), {}};
    if (pod->terminating) return LostNode{fmt::format("pod {} is being deleted", pod->key.name), {}};
    if (pod->bound()) continue;
    const auto at = context.ledger->find(member.node);
    if (!at) return LostNode{fmt::format("node {} is gone", member.node), {member.node}};
    const model::Node& node = *context.ledger->nodes()[*at].node;
    if (!node.takesPods()) {
      return LostNode{fmt::format("node {} is no longer schedulable", member.node), {member.node}};
    }
    if (pod->unschedulableMessage.empty()) continue;
    // A gated pod has this condition, too: its transition is older than the release, or absent. A new leader
    // cannot see the time of the release, and may give up early: that costs one attempt.
    const base::WallTime since =
        std::max({pod->unschedulableSince, pod->created, context.feedback->released.value_or(pod->created)});
    const base::WallTime patience = since + context.settings->unschedulableGrace;
    if (context.now >= patience) {
      return LostNode{
          fmt::format("pod {} was not bound to its node: {}", pod->key.name, pod->unschedulableMessage),
          nodesNotGiven(members, *context.ledger), !isForCapacity(pod->unschedulableMessage)};
    }
    wakeAt = wakeAt ? std::min(*wakeAt, patience) : patience;
  }
  return std::nullopt;
}

LostNode missedDeadline(const std::vector<Member>& members) {
  LostNode lost{"the gang was not complete before its deadline", {}};
  for (const Member& member : members) {
    if (member.pod != nullptr && !member.pod->otherGate.empty())
      return {fmt::format("pod {} keeps the scheduling gate {}", member.pod->key.name, member.pod->otherGate),
              {}};
  }
  for (const Member& member : members) {
    if (member.pod != nullptr && member.pod->awaitsClaims)
      return {fmt::format("pod {} has no ResourceClaim yet: is kube-controller-manager running?",
                          member.pod->key.name),
              {}};
  }
  for (const Member& member : members) {
    const bool waits = member.pod != nullptr && !member.pod->gangGated && !member.pod->bound();
    if (waits) lost.nodes.push_back(member.node);
  }
  lost.isUnbindable = !lost.nodes.empty();
  return lost;
}

}  // namespace trainyard::core
