#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/pod_groups.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The placed gangs that have pods among the victims of a proposal, each with the job whose proposal it is; of
// several the first by name. `proposing`: the snapshot's jobs that have a proposal.
[[nodiscard]] std::map<model::ObjectKey, model::ObjectKey> claimedGangs(
    const std::vector<std::shared_ptr<const model::Job>>& proposing,
    const model::SharedList<model::Pod>& pods);

// Whether the job has a claim under way that names any of these pods.
[[nodiscard]] bool claimsAny(const model::Job& claimant, const JobPods& pods);

// The gangs that a claim stops, as it names them: their pods that have not ended.
[[nodiscard]] std::vector<model::Victim> victimPods(
    const std::vector<std::shared_ptr<const model::Job>>& gangs, const PodGroups& pods);
// "ml/a, ml/b and ml/c".
[[nodiscard]] std::string namesOf(const std::vector<std::shared_ptr<const model::Job>>& jobs);

}  // namespace trainyard::core
