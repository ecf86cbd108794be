#include "core/preemption/leaving_strays.h"

#include <chrono>
#include <set>

#include "core/queues/eligibility.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

// After its grace period, a pod ends within the kubelet's own time.
constexpr std::chrono::seconds kLate{10};

// A suspended gang that is preemptible is a candidate, and released as such.
bool givesUpNodes(const model::Job& job) {
  const model::GangRecord& gang = job.status.gang;
  if (job.deleting || job.finished() || (!gang.placed && !gang.proposal)) return true;
  if (job.spec.run.suspend && !preemptible(job)) return true;
  return gang.proposal && gang.proposal->kind == model::ProposalKind::kRestart && gang.proposal->add.empty();
}

// The visitor gets the pod, what it holds, and the key of its gang, which may be deleted.
template <typename Visit>
void forEachOn(std::size_t at, const Ledger& ledger, const ClaimedGangs& claimed, base::WallTime now,
               Visit visit) {
  if (!ledger.nodes()[at].node->ready) return;
  ledger.forEachHolding(at, [&](const Ledger::Holding& holding) {
    const model::Pod* pod = holding.pod;
    if (pod == nullptr || !pod->terminating || !pod->deletionTime || now >= *pod->deletionTime + kLate)
      return;
    if (!pod->member || pod->controllerKind != model::names::kTrainingJobKind) return;
    if (holding.job != nullptr && !givesUpNodes(*holding.job)) return;
    const model::ObjectKey gang{pod->key.ns, pod->member->jobName};
    if (!claimed.contains(gang)) visit(*pod, holding.amount, gang);
  });
}

}  // namespace

NodeAmounts leavingStrays(const Ledger& ledger, const ClaimedGangs& claimed, base::WallTime now) {
  NodeAmounts leaving;
  for (std::size_t at = 0; at < ledger.nodes().size(); ++at) {
    forEachOn(at, ledger, claimed, now,
              [&](const model::Pod&, const model::Resources& amount, const model::ObjectKey&) {
                leaving.emplace_back(at, amount);
              });
  }
  return leaving;
}

std::vector<model::Victim> takeLeavingStrays(const std::vector<model::Assignment>& assignments,
                                             const model::ObjectKey& preemptor, const Ledger& ledger,
                                             ClaimedGangs& claimed, base::WallTime now) {
  std::set<std::size_t> nodes;
  for (const model::Assignment& each : assignments) {
    if (const auto at = ledger.find(each.node)) nodes.insert(*at);
  }
  std::vector<model::Victim> strays;
  std::set<model::ObjectKey> gangs;
  for (const std::size_t at : nodes) {
    forEachOn(at, ledger, claimed, now,
              [&](const model::Pod& pod, const model::Resources&, const model::ObjectKey& gang) {
                strays.push_back({pod.key, pod.uid, pod.node});
                gangs.insert(gang);
              });
  }
  for (const model::ObjectKey& gang : gangs) claimed.try_emplace(gang, preemptor);
  return strays;
}

}  // namespace trainyard::core
