#include "operator/workload_watches.h"

#include <algorithm>

#include "codec/workload.h"
#include "model/names.h"

namespace trainyard::operator_ {
namespace {

// A kind whose CRD is not installed is looked for so often.
constexpr std::chrono::seconds kLookForKind{10};

}  // namespace

WorkloadWatches::Watched::Watched(const model::OwnerKind& of, base::Logger log)
    : kind(of),
      cache([&of](std::string_view json) { return codec::decodeWorkload(of, json); }, std::move(log)) {}

WorkloadWatches::WorkloadWatches(const std::vector<std::string>& kinds, kube::ClusterCache& cache,
                                 base::Logger log)
    : cluster_(cache), log_(std::move(log)) {
  for (const std::string& name : kinds) {
    const auto* kind = std::find_if(model::kOwnerKinds.begin(), model::kOwnerKinds.end(),
                                    [&](const model::OwnerKind& each) { return each.kind == name; });
    if (kind == model::kOwnerKinds.end()) {
      log_.warning("no such kind of workload", {{"kind", name}});
      continue;
    }
    watched_.push_back(std::make_unique<Watched>(*kind, log_));
    Watched& watched = *watched_.back();
    watched.cache.onChange([this, &watched](const WorkloadPtr& before, const WorkloadPtr& after) {
      changed(watched, before, after);
    });
  }
}

void WorkloadWatches::start(kube::ApiClient& api, base::Executor& executor, base::Rng& rng) {
  reflectors_.clear();
  for (const auto& each : watched_) {
    const kube::ResourceType type{each->kind.group, each->kind.version, each->kind.plural};
    kube::ReflectorOptions options{.type = type, .mayBeAbsent = true, .maxDelay = kLookForKind};
    options.selectors.emplace_back("labelSelector", std::string(model::names::kQueueLabel));
    reflectors_.push_back(
        std::make_unique<kube::Reflector>(std::move(options), api, executor, rng.split(), log_, each->cache));
    reflectors_.back()->start();
  }
}

void WorkloadWatches::changed(const Watched& watched, const WorkloadPtr& before, const WorkloadPtr& after) {
  if (before && (!after || after->uid != before->uid)) cluster_.jobs.forgetOwner(before->uid);
  if (after) cluster_.jobs.setOwner(after->uid, after->owner);
  const model::ObjectKey& key = after ? after->key : before->key;
  for (const Listener& listener : listeners_) listener(watched.kind, key);
}

WorkloadWatches::WorkloadPtr WorkloadWatches::find(const model::OwnerKind& kind,
                                                   const model::ObjectKey& key) const {
  for (const auto& each : watched_) {
    if (&each->kind == &kind) return each->cache.find(key);
  }
  return nullptr;
}

void WorkloadWatches::forEach(const Listener& visit) const {
  for (const auto& each : watched_) {
    for (const auto& workload : each->cache.all()) visit(each->kind, workload->key);
  }
}

void WorkloadWatches::applyWrite(const model::OwnerKind& kind, std::string_view object) {
  for (const auto& each : watched_) {
    if (&each->kind == &kind) each->cache.applyWrite(object);
  }
}

bool WorkloadWatches::has(const model::Uid& uid) const { return cluster_.jobs.knowsOwner(uid); }

}  // namespace trainyard::operator_
