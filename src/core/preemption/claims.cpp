#include "core/preemption/claims.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/saturating.h"
#include "model/words.h"

namespace trainyard::core {

std::map<model::ObjectKey, model::ObjectKey> claimedGangs(
    const std::vector<std::shared_ptr<const model::Job>>& proposing,
    const model::SharedList<model::Pod>& pods) {
  std::map<model::ObjectKey, model::ObjectKey> claimed;
  for (const auto& job : proposing) {
    for (const model::Victim& victim : job->status.gang.proposal->victims) {
      const model::Pod* pod = findVictim(pods, victim);
      if (pod != nullptr && pod->member) claimed.try_emplace({victim.pod.ns, pod->member->jobName}, job->key);
    }
  }
  return claimed;
}

bool claimsAny(const model::Job& claimant, const JobPods& pods) {
  const auto& proposal = claimant.status.gang.proposal;
  if (!proposal || proposal->phase != model::ProposalPhase::kClaiming) return false;
  return std::any_of(proposal->victims.begin(), proposal->victims.end(), [&](const model::Victim& victim) {
    return std::any_of(pods.begin(), pods.end(), [&](const auto& pod) { return pod->uid == victim.uid; });
  });
}

std::vector<model::Victim> victimPods(const std::vector<std::shared_ptr<const model::Job>>& gangs,
                                      const PodGroups& pods) {
  std::vector<model::Victim> victims;
  for (const auto& gang : gangs) {
    for (const auto& pod : pods.of(*gang)) {
      if (!pod->finished()) victims.push_back({pod->key, pod->uid, pod->node});
    }
  }
  return victims;
}

void countOnce(QueueTree& tree, QueueTree::Index claimant, const QueueTree::Amounts& held,
               const std::vector<Leaving>& leaving) {
  QueueTree::Amounts counted(held.size(), 0);  // in the queues further down, and so in those above them
  const auto& path = tree.node(claimant).path;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    QueueTree::Amounts left(held.size(), 0);
    for (const Leaving& each : leaving) {
      const auto& above = tree.node(each.queue).path;
      if (std::find(above.begin(), above.end(), *at) == above.end()) continue;
      for (std::size_t d = 0; d < left.size(); ++d) left[d] = base::saturatingAdd(left[d], each.amounts[d]);
    }
    QueueTree::Amounts change(held.size(), 0);
    for (std::size_t d = 0; d < left.size(); ++d) {
      const std::int64_t twice = std::min(left[d], held[d]);
      change[d] = counted[d] - twice;
      counted[d] = twice;
    }
    tree.chargeLeaving(*at, change);
  }
}

std::string namesOf(const std::vector<std::shared_ptr<const model::Job>>& jobs) {
  std::vector<std::string> names;
  names.reserve(jobs.size());
  for (const auto& job : jobs) names.push_back(fmt::format("{}", job->key));
  return model::joinWords(names);
}

}  // namespace trainyard::core
