#include "operator/volume_keeper.h"

#include <algorithm>
#include <utility>

#include "core/ledger/volumes.h"

namespace trainyard::operator_ {
namespace {

bool awaitsVolumes(const model::Job& job) {
  return !job.finished() &&
         std::any_of(job.spec.roles.begin(), job.spec.roles.end(), [](const model::Role& role) {
           return !role.shape.volumeClaims.empty() || !role.shape.ephemeralVolumes.empty();
         });
}

bool alike(const model::Job& a, const model::Job& b) {
  return a.volumeProblem == b.volumeProblem && a.spec.locality.required == b.spec.locality.required &&
         std::equal(a.spec.roles.begin(), a.spec.roles.end(), b.spec.roles.begin(), b.spec.roles.end(),
                    [](const model::Role& x, const model::Role& y) {
                      return x.shape.volumeAffinity == y.shape.volumeAffinity &&
                             x.shape.requests == y.shape.requests;
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
  cache.pods.onChange([this](const auto& before, const auto& after) { followUses(before, after); });
  const auto tell = [this, changed = std::move(changed)](const auto&, const auto&) {
    if (!jobs_.empty()) changed();
  };
  caches_.claims.onChange(tell);
  caches_.volumes.onChange(tell);
  caches_.classes.onChange(tell);
  caches_.drivers.onChange(tell);
  caches_.csiNodes.onChange(tell);
}

void VolumeKeeper::followUses(const std::shared_ptr<const model::Pod>& before,
                              const std::shared_ptr<const model::Pod>& after) {
  const auto uses = [](const auto& pod) {
    return pod && pod->bound() && !pod->finished() && !pod->shape.volumeClaims.empty();
  };
  if (!uses(before) && !uses(after)) return;
  const bool same = uses(before) && uses(after) && before->uid == after->uid && before->node == after->node;
  if (same) return;
  usesChanged_ = true;
  if (uses(before)) {
    for (const std::string& claim : before->shape.volumeClaims) {
      const auto known = uses_.find({before->key.ns, claim});
      if (known == uses_.end()) continue;
      std::erase_if(known->second, [&](const auto& use) { return use.pod == before->key; });
      if (known->second.empty()) uses_.erase(known);
    }
  }
  if (!uses(after)) return;
  for (const std::string& claim : after->shape.volumeClaims)
    uses_[{after->key.ns, claim}].push_back({after->key, after->controllerUid, after->node});
}

void VolumeKeeper::overlay(model::Snapshot& snapshot) {
  if (jobs_.empty()) return;
  model::Volumes volumes = caches_.all();
  const auto& topology = snapshot.policy.topology;
  const std::string level = topology.empty() ? "node" : topology.back().name;
  const bool changed = !volumes.claims.isSameAs(last_.claims) || !volumes.volumes.isSameAs(last_.volumes) ||
                       !volumes.classes.isSameAs(last_.classes) || !volumes.drivers.isSameAs(last_.drivers) ||
                       !volumes.csiNodes.isSameAs(last_.csiNodes) || usesChanged_ || level != lastLevel_;
  usesChanged_ = false;
  lastLevel_ = level;
  last_ = volumes;
  volumes.uses = uses_;
  overlayJobs(snapshot, volumes, changed);
  overlayNodes(snapshot, volumes, changed);
}

void VolumeKeeper::overlayJobs(model::Snapshot& snapshot, const model::Volumes& volumes, bool changed) {
  for (const model::ObjectKey& key : jobs_) {
    const std::size_t at = snapshot.jobs.positionOf(key);
    if (at == snapshot.jobs.size()) continue;
    const auto& job = snapshot.jobs[at];
    Tied& known = tied_[key];
    if (known.from != job || changed) {
      auto now = core::withVolumes(job, volumes, lastLevel_);
      if (known.from != job || !alike(*known.to, *now)) known = {job, std::move(now)};
    }
    snapshot.jobs.edit()[at] = known.to;
  }
}

// Most jobs' templates have no ephemeral volumes, and then no node changes.
void VolumeKeeper::overlayNodes(model::Snapshot& snapshot, const model::Volumes& volumes, bool changed) {
  const bool any = std::any_of(tied_.begin(), tied_.end(), [](const auto& each) {
    const auto& roles = each.second.from->spec.roles;
    return std::any_of(roles.begin(), roles.end(),
                       [](const auto& role) { return !role.shape.ephemeralVolumes.empty(); });
  });
  if (!any) {
    localVolumes_.clear();
    enlarged_.clear();
    lastNodes_ = {};
    return;
  }
  if (changed || !snapshot.nodes.isSameAs(lastNodes_)) {
    lastNodes_ = snapshot.nodes;
    localVolumes_.clear();
    for (const auto& [key, tied] : tied_) {
      for (auto& [node, more] : core::moreLocalVolumes(*tied.from, volumes, snapshot.nodes))
        localVolumes_[node].raiseTo(more);
    }
  }
  std::erase_if(enlarged_, [&](const auto& each) { return !localVolumes_.contains(each.first); });
  for (std::size_t i = 0; i < snapshot.nodes.size() && !localVolumes_.empty(); ++i) {
    const auto node = snapshot.nodes[i];
    const auto more = localVolumes_.find(node->name);
    if (more == localVolumes_.end()) continue;
    model::Resources allocatable = node->allocatable;
    allocatable.add(more->second);
    Enlarged& known = enlarged_[node->name];
    if (known.from != node || known.to->allocatable != allocatable) {
      auto copy = std::make_shared<model::Node>(*node);
      copy->allocatable = std::move(allocatable);
      known = {node, std::move(copy)};
    }
    snapshot.nodes.edit()[i] = known.to;
  }
}

}  // namespace trainyard::operator_
