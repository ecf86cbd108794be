#include "core/cycle/clean_up.h"

namespace trainyard::core {

std::optional<base::WallTime> deletionDue(const model::Job& job) {
  if (!job.spec.run.ttlAfterFinished || !job.status.completionTime) return std::nullopt;
  return *job.status.completionTime + *job.spec.run.ttlAfterFinished;
}

bool mustCleanUp(const model::Job& job, const model::Pod& pod, const Ledger& ledger) {
  const auto holdsGpuNode = [&] {
    const auto node = ledger.find(pod.node);
    return pod.shape.requests.gpus() > 0 || (node && ledger.nodes()[*node].gpus > 0);
  };
  switch (job.spec.run.cleanPodPolicy) {
    case model::CleanPodPolicy::kNone: return !pod.finished() && holdsGpuNode();
    case model::CleanPodPolicy::kAll: return true;
    case model::CleanPodPolicy::kRunning: return !pod.finished();
  }
  return false;
}

}  // namespace trainyard::core
