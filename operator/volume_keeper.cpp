#include "operator/volume_keeper.h"

#include <algorithm>
#include <utility>

#include "core/ledger/volumes.h"

namespace trainyard::operator_ {
namespace {

bool awaitsVolumes(const model::Job& job) {
  return !job.finished() &&
         std::any_of(job.spec.roles.begin(), job.spec.roles.end(),
                     [](const model::Role& role) { return !role.shape.volumeClaims.empty(); });
}

bool alike(const model::Job& a, const model::Job& b) {
  return a.volumeProblem == b.volumeProblem &&
         std::equal(a.spec.roles.begin(), a.spec.roles.end(), b.spec.roles.begin(), b.spec.roles.end(),
                    [](const model::Role& x, const model::Role& y) {
                      return x.shape.volumeAffinity == y.shape.volumeAffinity;
                    });
}

}  // namespace

VolumeKeeper::VolumeKeeper(kube::ClusterCache& cache, const base::Logger& log, std::function<void()> changed)
    : caches_(log) {
  cache.jobs.onChange([this](const auto& before, const auto& after) {
    const model::ObjectKey& key = (after ? after : before)->key;
    if (after && awaitsVolumes(*after)) {
      jobs_.insert(key);
    } else if (jobs_.erase(key) != 0) {
      tied_.erase(key);
    }
  });
  const auto tell = [this, changed = std::move(changed)](const auto&, const auto&) {
    if (!jobs_.empty()) changed();
  };
  caches_.claims.onChange(tell);
  caches_.volumes.onChange(tell);
  caches_.classes.onChange(tell);
}

void VolumeKeeper::overlay(model::Snapshot& snapshot) {
  if (jobs_.empty()) return;
  const model::Volumes volumes = caches_.all();
  const bool sameVolumes = volumes.claims.isSameAs(last_.claims) && volumes.volumes.isSameAs(last_.volumes) &&
                           volumes.classes.isSameAs(last_.classes);
  last_ = volumes;
  for (const model::ObjectKey& key : jobs_) {
    const auto& jobs = snapshot.jobs.items();
    const auto at = std::lower_bound(jobs.begin(), jobs.end(), key,
                                     [](const auto& job, const auto& wanted) { return job->key < wanted; });
    if (at == jobs.end() || (*at)->key != key) continue;
    Tied& known = tied_[key];
    if (known.from != *at || !sameVolumes) {
      auto now = core::withVolumes(*at, volumes);
      if (known.from != *at || !alike(*known.to, *now)) known = {*at, std::move(now)};
    }
    snapshot.jobs.edit()[static_cast<std::size_t>(at - jobs.begin())] = known.to;
  }
}

}  // namespace trainyard::operator_
