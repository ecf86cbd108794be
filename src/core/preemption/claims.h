#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/pod_groups.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The placed gangs that have pods among the victims of a proposal, each with the job whose proposal it is; of
// several the first by name. `proposing`: the snapshot's jobs that have a proposal.
[[nodiscard]] std::map<model::ObjectKey, model::ObjectKey> claimedGangs(
    const std::vector<std::shared_ptr<const model::Job>>& proposing,
    const model::SharedList<model::Pod>& pods);

// What a claim under way has of a gang that is to give members up for it.
struct ClaimOnGang {
  bool names = false;   // pods of those members, though they be gone: one cycle sees them gone and the claim
                        // about to have their places
  bool awaits = false;  // somebody who has not ended, of this gang or another: it may come to nothing yet
};
// `pods`: the gang's; `all`: the snapshot's. Nothing where the claim's places are reserved already, or it is
// given up or about to be.
[[nodiscard]] ClaimOnGang claimOn(const model::Job& gang, const JobPods& pods, const model::Job& claimant,
                                  const model::SharedList<model::Pod>& all);

// The gangs that a claim stops, as it names them: their pods that have not ended.
[[nodiscard]] std::vector<model::Victim> victimPods(
    const std::vector<std::shared_ptr<const model::Job>>& gangs, const PodGroups& pods);

// What is charged to a queue as leaving.
struct Leaving {
  QueueTree::Index queue = QueueTree::kCluster;
  QueueTree::Amounts amounts;
};
// Where a claimant waits until others have left, limits need not have room for both: what leaves for it is
// counted with what it holds itself, the larger of the two. Both are charged already.
void countOnce(QueueTree& tree, QueueTree::Index claimant, const QueueTree::Amounts& held,
               const std::vector<Leaving>& leaving);

// "ml/a, ml/b and ml/c".
[[nodiscard]] std::string namesOf(const std::vector<std::shared_ptr<const model::Job>>& jobs);

}  // namespace trainyard::core
