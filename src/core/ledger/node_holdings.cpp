#include "core/ledger/node_holdings.h"

#include <algorithm>

namespace trainyard::core {
namespace {

using model::Job;
using model::Resources;

bool sameNames(const model::SharedList<model::Node>& a, const model::SharedList<model::Node>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x == y || x->name == y->name; });
}

}  // namespace

bool NodeHoldings::follow(const model::SharedList<model::Node>& nodes) {
  if (nodes.isSameAs(nodeList_)) return true;
  ++versionWithoutJobs_;
  const bool same = sameNames(nodes, nodeList_);
  if (!same) {
    nodes_.assign(nodes.size(), {});
    entries_.assign(nodes.size(), {});
    changed_.clear();
    ++version_;
  }
  // The index refers to names inside the node objects, so it is rebuilt for the new ones.
  byName_ = NameIndex(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    byName_.add(nodes[i]->name.str(), i);
    if (nodes_[i].node == nodes[i].get()) continue;
    nodes_[i].node = nodes[i].get();
    markChanged(i);
  }
  nodeList_ = nodes;
  return same;
}

void NodeHoldings::giveBackAllTaken() {
  for (const auto& [node, entry] : taken_) markChanged(node);
  taken_.clear();
  takes_ = 0;
}

void NodeHoldings::add(std::size_t node, Entry entry) {
  if (entry.job == nullptr) ++versionWithoutJobs_;
  std::vector<Entry>& all = entries_[node];
  const auto before = [](const Entry& a, const Entry& b) {
    if (a.pod != nullptr && b.pod != nullptr) return a.pod->key < b.pod->key;
    if (a.pod != nullptr || b.pod != nullptr) return a.pod != nullptr;
    return a.job->key < b.job->key;
  };
  all.insert(std::upper_bound(all.begin(), all.end(), entry, before), std::move(entry));
  markChanged(node);
}

void NodeHoldings::removeOwnedBy(OwnerId owner, std::size_t node) {
  const auto isOwned = [&](const Entry& entry) { return entry.owner == owner; };
  const auto isOfNoJob = [&](const Entry& entry) { return isOwned(entry) && entry.job == nullptr; };
  if (std::any_of(entries_[node].begin(), entries_[node].end(), isOfNoJob)) ++versionWithoutJobs_;
  std::erase_if(entries_[node], isOwned);
  markChanged(node);
}

void NodeHoldings::removePod(const model::Pod& pod, std::size_t node) {
  std::erase_if(entries_[node], [&](const Entry& entry) { return entry.pod == &pod; });
  ++versionWithoutJobs_;
  markChanged(node);
}

void NodeHoldings::markChanged(std::size_t node) { changed_.push_back(static_cast<std::uint32_t>(node)); }

// Many entries are summed by halves. Each subtraction walks all resource names that the node's pods use, and
// only the kubelet bounds how many pods name a node.
void NodeHoldings::subtractAll(std::span<const Entry> entries, WhichEntries which, Resources& from) {
  constexpr std::size_t kFew = 16;
  if (entries.size() <= kFew) {
    for (const Entry& entry : entries) {
      if (which == WhichEntries::kAll || entry.job == nullptr) from.subtract(holdingOf(entry).amount);
    }
    return;
  }
  const std::size_t half = entries.size() / 2;
  for (const auto part : {entries.first(half), entries.subspan(half)}) {
    Resources less;
    subtractAll(part, which, less);
    from.add(less);
  }
}

// Sums up from the start, not by differences: sums saturate, so an added amount may not be
// subtractable.
void NodeHoldings::addUpChanged() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  if (!changed_.empty()) ++version_;
  for (const std::uint32_t node : changed_) {
    NodeCapacity& capacity = nodes_[node];
    capacity.free = capacity.node->allocatable;
    subtractAll(entries_[node], WhichEntries::kAll, capacity.free);
    capacity.freeGpus = capacity.free.gpus();
    capacity.gpus = capacity.node->allocatable.gpus();
  }
  changed_.clear();
}

std::optional<std::size_t> NodeHoldings::find(const model::NodeName& name) const {
  return byName_.find(name.str());
}

const Resources& NodeHoldings::freeWithoutJobs(std::size_t node, Resources& into) const {
  const Resources& all = nodes_[node].node->allocatable;
  const std::vector<Entry>& entries = entries_[node];
  if (std::all_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.job != nullptr; }))
    return all;
  into = all;
  subtractAll(entries, WhichEntries::kOfNoJob, into);
  return into;
}

bool NodeHoldings::hostsSpreadGang(std::size_t node, const Job* asking) const {
  const model::NodeName& here = nodes_[node].node->name;
  const auto leadsElsewhere = [&](const std::vector<model::Assignment>& assignments) {
    return std::any_of(assignments.begin(), assignments.end(),
                       [&](const model::Assignment& each) { return each.node != here; });
  };
  return std::any_of(entries_[node].begin(), entries_[node].end(), [&](const Entry& entry) {
    if (entry.job == nullptr || entry.job == asking) return false;
    const model::GangRecord& gang = entry.job->status.gang;
    return (gang.placed && leadsElsewhere(gang.placed->assignments)) ||
           (gang.proposal && leadsElsewhere(gang.proposal->add));
  });
}

void NodeHoldings::take(std::size_t node, const Resources& requests, int count, const Job* by) {
  Resources amount = requests.times(count);
  nodes_[node].subtract(amount);
  ++takes_;
  taken_.push_back({node, {.job = by, .assigned = std::move(amount)}});
}

}  // namespace trainyard::core
