#include "core/search/placement_cache.h"

#include <algorithm>

#include "core/place/shape_key.h"

namespace trainyard::core {
namespace {

// The number of stale entries that may stay before they are removed.
constexpr std::size_t kSlack = 256;

// With the same names, the same indices stand for the same queues.
bool sameNames(const model::SharedList<model::Queue>& a, const model::SharedList<model::Queue>& b) {
  return a.isSameAs(b) ||
         std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x == y || x->name == y->name; });
}

}  // namespace

void PlacementCache::begin(const Ledger& ledger) {
  if (ledger.versionWithoutJobs() != versionWithoutJobs_) {
    attainable.clear();
    mayEverStart.clear();
  }
  versionWithoutJobs_ = ledger.versionWithoutJobs();
  if (ledger.version() == version_) return;
  version_ = ledger.version();
  failures_.clear();
  reasons_.clear();
}

void PlacementCache::followQueues(const model::Snapshot& snapshot) {
  const bool same = sameNames(queues_, snapshot.queues) && priorityClasses_ == snapshot.priorityClasses &&
                    namespaces_ == snapshot.namespaces;
  queues_ = snapshot.queues;
  priorityClasses_ = snapshot.priorityClasses;
  namespaces_ = snapshot.namespaces;
  if (!same) notes.clearPendingFacts();
}

void PlacementCache::end(std::size_t jobs) {
  fits.forgetGone();
  // Shapes then get new numbers: no cache may keep the old ones.
  if (shapes_.size() > jobs + kSlack) clear();
}

void PlacementCache::clear() {
  notes.clear();
  reported.clear();
  shapes_.clear();
  pools_.clear();
  poolOfShape_.clear();
  failures_.clear();
  reasons_.clear();
  attainable.clear();
  mayEverStart.clear();
}

std::uint32_t PlacementCache::shapeOf(const model::Job& job, std::size_t position) {
  JobNotes::Note& note = notes.of(position);
  if (note.shape == JobNotes::kNoShape) {
    const auto next = static_cast<std::uint32_t>(shapes_.size());
    note.shape = shapes_.try_emplace(shapeKey(job), next).first->second;
  }
  return note.shape;
}

std::uint32_t PlacementCache::poolOf(const model::Job& job, std::uint32_t shape) {
  const auto [known, isNew] = poolOfShape_.try_emplace(shape, 0);
  if (isNew) {
    const auto next = static_cast<std::uint32_t>(pools_.size());
    known->second = pools_.try_emplace(poolKey(job), next).first->second;
  }
  return known->second;
}

const GpuTypes& PlacementCache::gpuTypes(const model::Snapshot& snapshot) {
  const std::string& label = snapshot.policy.gpuTypeLabel;
  if (!gpuTypes_ || !typedNodes_.isSameAs(snapshot.nodes) || gpuTypes_->label() != label) {
    gpuTypes_.emplace(snapshot.nodes, label);
    typedNodes_ = snapshot.nodes;
  }
  return *gpuTypes_;
}

bool PlacementCache::failed(const Question& question, const Ledger& ledger) const {
  const auto found = failures_.find(question);
  return found != failures_.end() && found->second == stateOf(ledger);
}

std::shared_ptr<const PlacementFailure> PlacementCache::failure(const Question& question,
                                                                const Ledger& ledger) const {
  const auto found = reasons_.find(question);
  return found != reasons_.end() && found->second.first == stateOf(ledger) ? found->second.second : nullptr;
}

}  // namespace trainyard::core
