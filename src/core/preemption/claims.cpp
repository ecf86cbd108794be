#include "core/preemption/claims.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/saturating.h"
#include "core/ledger/members.h"
#include "model/job.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

// "JOB-ROLE-INDEX", which is the pod's name unless the pod is a Gang's.
std::string memberNameOf(const model::Victim& victim) {
  const auto& place = victim.place;
  return place ? model::podName(place->gang, place->role, place->index) : victim.pod.name;
}

// The pods of the members that the gang's proposal removes, by "JOB-ROLE-INDEX"; null for pods that are gone.
std::map<std::string, const model::Pod*> leavingPods(const model::Job& gang, const JobPods& pods) {
  std::map<std::string, const model::Pod*> leaving;
  for (const Member& member : removedMembers(gang, *gang.status.gang.proposal, pods))
    leaving.emplace(model::podName(gang.key.name, member.role, member.index), member.pod);
  return leaving;
}

}  // namespace

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

ClaimOnGang claimOn(const model::Job& gang, const JobPods& pods, const model::Job& preemptor,
                    const model::SharedList<model::Pod>& all) {
  ClaimOnGang claim;
  const auto& proposal = preemptor.status.gang.proposal;
  const bool stays = !preemptor.deleting && !preemptor.spec.run.suspend;
  if (!stays || !proposal || proposal->phase != model::ProposalPhase::kClaiming) return claim;
  const auto leaving = leavingPods(gang, pods);
  for (const model::Victim& victim : proposal->victims) {
    const model::Pod* pod = findVictim(all, victim);
    claim.awaits = claim.awaits || (pod != nullptr && !pod->finished());
    const auto at = leaving.find(memberNameOf(victim));
    const bool ofGang = victim.pod.ns == gang.key.ns && at != leaving.end();
    claim.names = claim.names || (ofGang && at->second == pod);
  }
  return claim;
}

std::vector<model::Victim> victimPods(const std::vector<std::shared_ptr<const model::Job>>& gangs,
                                      const PodGroups& pods) {
  std::vector<model::Victim> victims;
  for (const auto& gang : gangs) {
    for (const auto& pod : pods.of(*gang)) {
      if (pod->finished()) continue;
      model::Victim& victim = victims.emplace_back(model::Victim{pod->key, pod->uid, pod->node});
      if (gang->owner != nullptr)
        victim.place = model::Victim::Place{gang->key.name, pod->member->role, pod->member->index};
    }
  }
  return victims;
}

namespace {

// What counts twice in this queue: of what leaves below it, as much as the preemptor holds itself.
Amounts countedTwice(const QueueTree& tree, QueueTree::Index queue, const Amounts& held,
                     const PendingReleases& leaving) {
  Amounts twice(held.size(), 0);
  for (const auto& [at, amounts] : leaving) {
    const auto& above = tree.node(at).path;
    if (std::find(above.begin(), above.end(), queue) == above.end()) continue;
    for (std::size_t d = 0; d < twice.size(); ++d) twice[d] = base::saturatingAdd(twice[d], amounts[d]);
  }
  for (std::size_t d = 0; d < twice.size(); ++d) twice[d] = std::min(twice[d], held[d]);
  return twice;
}

}  // namespace

void add(PendingReleases& releases, const PendingRelease& release) {
  Amounts& sums = releases[release.queue];
  sums.resize(release.amounts.size(), 0);
  for (std::size_t d = 0; d < sums.size(); ++d) sums[d] = base::saturatingAdd(sums[d], release.amounts[d]);
}

void countOnce(QueueTree& tree, QueueTree::Index preemptor, const Amounts& held,
               const PendingReleases& leaving) {
  Amounts counted(held.size(), 0);  // in the queues further down, and thus in those above
  const auto& path = tree.node(preemptor).path;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    const Amounts twice = countedTwice(tree, *at, held, leaving);
    Amounts change(held.size(), 0);
    for (std::size_t d = 0; d < twice.size(); ++d) {
      change[d] = counted[d] - twice[d];
      counted[d] = twice[d];
    }
    tree.chargeLeaving(*at, change);
  }
}

std::optional<Excess> beyondLimitCountedOnce(const QueueTree& tree, QueueTree::Index preemptor,
                                             const Amounts& held, const PendingReleases& leaving) {
  for (const QueueTree::Index at : tree.node(preemptor).path) {
    const QueueTree::Node& node = tree.node(at);
    const Amounts twice = countedTwice(tree, at, held, leaving);
    for (std::size_t d = 0; d < held.size(); ++d) {
      const std::int64_t charged = base::saturatingAdd(node.usage[d], node.leaving[d]);
      if (held[d] > 0 && base::saturatingAdd(charged, held[d] - twice[d]) > node.limit[d])
        return Excess{at, d, charged, node.limit[d], node.leaving[d]};
    }
  }
  return std::nullopt;
}

std::string namesOf(const std::vector<std::shared_ptr<const model::Job>>& jobs) {
  std::vector<std::string> names;
  names.reserve(jobs.size());
  for (const auto& job : jobs) names.push_back(fmt::format("{}", job->key));
  return model::joinList(names);
}

}  // namespace trainyard::core
