#include "operator/kueue_workloads.h"

#include <chrono>
#include <utility>

#include "codec/kueue_workload.h"
#include "model/managed_by.h"
#include "model/names.h"

namespace trainyard::operator_ {
namespace {

// Kueue is looked for so often while it is not installed.
constexpr std::chrono::seconds kLookForKueue{10};

}  // namespace

KueueWorkloads::KueueWorkloads(kube::ClusterCache& cache, const base::Logger& log)
    : cluster_(cache), log_(log), workloads_(codec::decodeKueueWorkload, log) {
  cluster_.jobs.trainingJobs.onChange([this](const auto& before, const auto& after) {
    if (after && after->kueue) {
      jobs_.insert(after->key);
    } else if (jobs_.erase((after ? after : before)->key) != 0) {
      shown_.erase((after ? after : before)->key);
    }
  });
}

void KueueWorkloads::start(kube::ApiClient& api, base::Executor& executor, base::Rng& rng) {
  kube::ReflectorOptions options{
      .type = kube::kKueueWorkloads, .mayBeAbsent = true, .maxDelay = kLookForKueue};
  options.selectors.emplace_back("labelSelector", std::string(model::names::kJobNameLabel));
  reflector_ =
      std::make_unique<kube::Reflector>(std::move(options), api, executor, rng.split(), log_, workloads_);
  reflector_->start();
}

bool KueueWorkloads::synced() const {
  synced_ = synced_ || (reflector_ && reflector_->synced());
  return synced_;
}

KueueWorkloads::Pointer KueueWorkloads::of(const model::Job& job) const {
  const bool namesOne = job.kueue && !job.kueue->workload.empty();
  return workloads_.find({job.key.ns, namesOne ? job.kueue->workload : model::kueueWorkloadName(job)});
}

std::string KueueWorkloads::whyHeld(const model::Job& job, const model::KueueWorkload* workload,
                                    const model::Snapshot& snapshot) const {
  // A job that others run, or that the user has suspended, is not Kueue's to hold.
  if (!job.kueue || job.finished() || job.spec.run.suspend || model::managedByOther(job)) return {};
  if (synced()) return model::whyHeld(job, workload);
  return hasBegun(job, snapshot.pods) ? std::string()
                                      : "the API server serves no Workloads: is Kueue installed?";
}

void KueueWorkloads::overlay(model::Snapshot& snapshot) {
  for (const model::ObjectKey& key : jobs_) {
    const std::size_t at = snapshot.jobs.positionOf(key);
    if (at == snapshot.jobs.size()) continue;
    const JobPtr job = snapshot.jobs[at];
    const Pointer workload = of(*job);
    Shown& known = shown_[key];
    // Each cycle asks about each job: most have not changed.
    if (!synced() || known.job != job || known.workload != workload)
      known = show(known, job, workload, whyHeld(*job, workload.get(), snapshot));
    if (known.held) snapshot.jobs.edit()[at] = known.held;
  }
}

KueueWorkloads::Shown KueueWorkloads::show(const Shown& before, const JobPtr& job, const Pointer& workload,
                                           std::string why) {
  if (why.empty()) return {job, workload, nullptr};
  if (before.job == job && before.held && before.held->heldByKueue == why)
    return {job, workload, before.held};
  auto copy = std::make_shared<model::Job>(*job);
  copy->heldByKueue = std::move(why);
  copy->spec.run.suspend = true;
  return {job, workload, std::move(copy)};
}

bool hasBegun(const model::Job& job, const model::SharedList<model::Pod>& pods) {
  if (job.status.gang.placed || job.status.gang.proposal) return true;
  for (const model::Role& role : job.spec.roles) {
    for (int index = 0; index < model::kueueCount(job, role.name); ++index) {
      const model::ObjectKey key{job.key.ns, model::podName(job.key.name, role.name, index)};
      const model::Pod* pod = pods.find(key);
      if (pod != nullptr && pod->controllerUid == job.uid) return true;
    }
  }
  return false;
}

}  // namespace trainyard::operator_
