#include "core/memo.h"

#include <algorithm>

namespace trainyard::core {
namespace {

// Stale entries that may stay before anybody sweeps.
constexpr std::size_t kSlack = 256;

using Nodes = model::SharedList<model::Node>;

bool sameLevels(const std::vector<model::TopologyLevel>& a, const std::vector<model::TopologyLevel>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.labelKey == y.labelKey;
  });
}

// Whether both make the same domains and are spoken of in the same words.
bool sameNetwork(const Nodes& a, const Nodes& b) {
  return a.isSameAs(b) ||
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
           return x == y || (x->name == y->name && x->labels == y->labels);
         });
}

}  // namespace

void Memo::begin(const model::Snapshot& snapshot) {
  const bool same =
      domains_ && sameLevels(levels_, snapshot.policy.topology) && sameNetwork(nodes_, snapshot.nodes);
  if (!same) {
    domains_ = std::make_unique<const Domains>(snapshot.nodes, snapshot.policy.topology);
    levels_ = snapshot.policy.topology;
    settled_.clear();
    told_.clear();
    schedule_.clear();
  }
  nodes_ = snapshot.nodes;
  ledger_.follow(snapshot);
  schedule_.begin(ledger_.version());
}

void Memo::end(std::size_t jobs) {
  settled_.endRound(jobs);
  told_.endRound(jobs);
  schedule_.end(jobs);
}

bool Memo::Jobs::has(const JobPtr& job, const JobPods& pods) {
  const auto found = entries_.find(job.get());
  if (found == entries_.end() || found->second.pods != pods) return false;
  found->second.used = round_;
  return true;
}

void Memo::Jobs::add(const JobPtr& job, const JobPods& pods) { entries_[job.get()] = {job, pods, round_}; }

void Memo::Jobs::endRound(std::size_t jobs) {
  if (entries_.size() > jobs + kSlack) {
    std::erase_if(entries_, [this](const auto& entry) { return entry.second.used != round_; });
  }
  ++round_;
}

}  // namespace trainyard::core
