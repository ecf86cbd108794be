#include "core/search/placement_cache.h"

#include <algorithm>
#include <utility>

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
  whenEmpty.follow(ledger);
  unplaced.follow(ledger);
}

void PlacementCache::followQueues(const model::Snapshot& snapshot) {
  FactInputs inputs{snapshot.queues, snapshot.priorityClasses, snapshot.namespaces};
  const bool same = sameNames(factInputs_.queues, inputs.queues) &&
                    factInputs_.priorityClasses == inputs.priorityClasses &&
                    factInputs_.namespaces == inputs.namespaces;
  factInputs_ = std::move(inputs);
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
  unplaced.clear();
  whenEmpty.clear();
}

std::uint32_t PlacementCache::shapeOf(const model::Job& job, std::size_t position) {
  JobNotes::Note& note = notes.of(position);
  if (note.shape == JobNotes::kNoShape) note.shape = shapes_.shapeOf(job);
  return note.shape;
}

const GpuTypes& PlacementCache::gpuTypes(const model::Snapshot& snapshot) {
  const std::string& label = snapshot.policy.gpuTypeLabel;
  if (!gpuTypes_ || !gpuTypes_->areOf(snapshot.nodes, label)) gpuTypes_.emplace(snapshot.nodes, label);
  return *gpuTypes_;
}

}  // namespace trainyard::core
