#include "operator/console/live_facts.h"

#include <chrono>
#include <cstddef>

namespace trainyard::operator_::console {
namespace {

using std::chrono::seconds;

constexpr base::Instant::duration kMaxAge = seconds(1);
constexpr base::Instant::duration kRecount = seconds(30);  // for values that depend on time alone
constexpr std::size_t kMaxDescribed = 32;                  // viewers: as many as may have streams

bool sameCluster(const model::Snapshot& a, const model::Snapshot& b) {
  return a.nodes.isSameAs(b.nodes) && a.pods.isSameAs(b.pods) && a.jobs.isSameAs(b.jobs) &&
         a.queues.isSameAs(b.queues) && a.namespaces.isSameAs(b.namespaces) &&
         a.policy.topology == b.policy.topology;
}

}  // namespace

void LiveFacts::refresh(std::function<void(bool)> then) {
  if (known_ && executor_.now() - takenAt_ < kMaxAge) return then(true);
  waiting_.push_back(std::move(then));
  if (std::exchange(asking_, true)) return;
  source_([this, alive = alive_](std::optional<model::Snapshot> snapshot) {
    if (!*alive) return;
    take(std::move(snapshot));
  });
}

void LiveFacts::take(std::optional<model::Snapshot> snapshot) {
  asking_ = false;
  takenAt_ = executor_.now();
  if (snapshot) {
    const bool stale = takenAt_ - countedAt_ > kRecount;
    if (!known_ || stale || !sameCluster(*snapshot, facts_.snapshot)) {
      facts_.follow(std::move(*snapshot));
      described_.clear();
      countedAt_ = takenAt_;
    }
    known_ = true;
  }
  for (auto& each : std::exchange(waiting_, {})) each(known_);
}

// Caches the sections by viewer, because most viewers have the same rights.
LiveFacts::Sections LiveFacts::sectionsFor(const Viewer& viewer) {
  for (const auto& [owner, sections] : described_) {
    if (owner == viewer) return sections;
  }
  if (described_.size() >= kMaxDescribed) described_.clear();
  return described_.emplace_back(viewer, std::make_shared<std::vector<Section>>(describe(facts_, viewer)))
      .second;
}

}  // namespace trainyard::operator_::console
