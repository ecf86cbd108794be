#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/pod_groups.h"
#include "core/queues/queue_tree.h"
#include "core/queues/quota_check.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The placed gangs with pods among the victims of a proposal, each with the job that proposes; the first by
// name if there are several. `proposing`: the snapshot's jobs that have a proposal.
[[nodiscard]] std::map<model::ObjectKey, model::ObjectKey> claimedGangs(
    const std::vector<std::shared_ptr<const model::Job>>& proposing,
    const model::SharedList<model::Pod>& pods);

// How a claim under way concerns a gang that is to give up members for it.
struct ClaimOnGang {
  // Pods of those members are its victims. They count even if they are gone: for one cycle they are gone, and
  // the claim is about to take their capacity.
  bool names = false;
  // A victim, of this gang or another, has not ended: the claim may still fail.
  bool awaits = false;
};
// `pods`: the gang's; `all`: the snapshot's. Both fields are false if the claim has reserved its
// placement already, or is given up or about to be.
[[nodiscard]] ClaimOnGang claimOn(const model::Job& gang, const JobPods& pods, const model::Job& preemptor,
                                  const model::SharedList<model::Pod>& all);

// The victims of a claim: the pods of these gangs that have not ended.
[[nodiscard]] std::vector<model::Victim> victimPods(
    const std::vector<std::shared_ptr<const model::Job>>& gangs, const PodGroups& pods);

// Amounts that are charged to a queue and that are about to be released.
struct PendingRelease {
  QueueTree::Index queue = QueueTree::kCluster;
  Amounts amounts;
};
// The sums of such amounts by queue.
using PendingReleases = std::map<QueueTree::Index, Amounts>;
void add(PendingReleases& releases, const PendingRelease& release);

// While a preemptor waits for its victims to leave, a limit need not admit both. Of what leaves for it and
// what it holds itself, the larger counts. Both are charged already.
void countOnce(QueueTree& tree, QueueTree::Index preemptor, const Amounts& held,
               const PendingReleases& leaving);

// The first limit, from the cluster downwards, that does not admit `held` then.
[[nodiscard]] std::optional<Excess> beyondLimitCountedOnce(const QueueTree& tree, QueueTree::Index preemptor,
                                                           const Amounts& held,
                                                           const PendingReleases& leaving);

// "ml/a, ml/b and ml/c".
[[nodiscard]] std::string namesOf(const std::vector<std::shared_ptr<const model::Job>>& jobs);

}  // namespace trainyard::core
