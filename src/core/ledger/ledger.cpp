#include "core/ledger/ledger.h"

#include <algorithm>
#include <utility>

#include "core/ledger/ledger_counter.h"
#include "core/ledger/list_changes.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::Pod;
using model::Resources;
using JobPtr = std::shared_ptr<const Job>;

bool sameNames(const model::SharedList<model::Node>& a, const model::SharedList<model::Node>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x == y || x->name == y->name; });
}

bool claims(const Job& job) { return job.status.gang.proposal && !job.status.gang.proposal->victims.empty(); }

}  // namespace

void Ledger::follow(const model::Snapshot& snapshot) {
  for (const auto& [node, entry] : taken_) markChanged(node);
  taken_.clear();
  takes_ = 0;
  followNodes(snapshot.nodes);
  std::vector<model::Uid> owners = followJobs(snapshot.jobs);
  const auto& pods = groups_.follow(snapshot.pods);
  for (const Pod* pod : pods.gone) forgetForeignPod(*pod);
  podList_ = snapshot.pods;
  for (const Pod* pod : pods.present) countForeignPod(*pod);
  owners.insert(owners.end(), pods.owners.begin(), pods.owners.end());
  const bool podsChanged = !pods.gone.empty() || !pods.present.empty() || !pods.owners.empty();
  if (podsChanged) owners.insert(owners.end(), preemptors_.begin(), preemptors_.end());
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  // Forgets all changed owners first: their entries may point to objects that no longer exist.
  for (const model::Uid& owner : owners) forgetOwner(owners_[owner]);
  for (const model::Uid& owner : owners) countOwner(owner);
  addUpChanged();
}

// A different set of names changes all indices, so everything is counted again.
void Ledger::followNodes(const model::SharedList<model::Node>& nodes) {
  if (nodes.isSameAs(nodeList_)) return;
  ++versionWithoutJobs_;
  if (sameNames(nodes, nodeList_)) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes_[i].node == nodes[i].get()) continue;
      nodes_[i].node = nodes[i].get();
      markChanged(i);
    }
    // The index refers to names inside the node objects, so it is rebuilt for the new ones.
    byName_ = NameIndex(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) byName_.add(nodes[i]->name.str(), i);
    nodeList_ = nodes;
    return;
  }
  const std::uint64_t version = version_ + 1;
  const std::uint64_t withoutJobs = versionWithoutJobs_;
  *this = Ledger();
  version_ = version;
  versionWithoutJobs_ = withoutJobs;
  nodeList_ = nodes;
  byName_ = NameIndex(nodes.size());
  nodes_.reserve(nodes.size());
  entries_.resize(nodes.size());
  for (const auto& node : nodes) {
    byName_.add(node->name.str(), nodes_.size());
    markChanged(nodes_.size());
    nodes_.push_back({node.get(), {}});
  }
}

std::vector<model::Uid> Ledger::followJobs(const model::SharedList<Job>& jobs) {
  std::vector<model::Uid> changed;
  forEachChange(jobList_, jobs, [&](const JobPtr& before, const JobPtr& after) {
    if (before) changed.push_back(before->uid);
    if (after) changed.push_back(after->uid);
    replaceJob(before, after);
  });
  jobList_ = jobs;
  return changed;
}

void Ledger::replaceJob(const JobPtr& before, const JobPtr& after) {
  if (before && (!after || before->uid != after->uid)) {
    preemptors_.erase(before->uid);
    // The API never creates two jobs of one uid; if it did, the first by name would count.
    const auto known = owners_.find(before->uid);
    if (known != owners_.end() && known->second.job == before) known->second.job = nullptr;
  }
  if (!after) return;
  Owner& owner = owners_[after->uid];
  if (owner.job && owner.job != before) return;
  owner.job = after;
  if (claims(*after)) {
    preemptors_.insert(after->uid);
  } else {
    preemptors_.erase(after->uid);
  }
}

void Ledger::forgetOwner(Owner& owner) {
  for (const std::uint32_t node : owner.nodes) {
    const auto ofOwner = [&](const Entry& entry) { return entry.owner == owner.id; };
    const auto isUnowned = [&](const Entry& entry) { return ofOwner(entry) && entry.job == nullptr; };
    if (std::any_of(entries_[node].begin(), entries_[node].end(), isUnowned)) ++versionWithoutJobs_;
    std::erase_if(entries_[node], ofOwner);
    markChanged(node);
  }
  owner.nodes.clear();
}

void Ledger::countOwner(const model::Uid& uid) {
  Owner& owner = owners_[uid];
  const JobPods& pods = groups_.naming(uid);
  if (pods.empty() && !owner.job) {
    owners_.erase(uid);
    return;
  }
  if (owner.id == kNoOwner) owner.id = ++lastOwner_;
  Counter(*this, owner).count(pods);
}

void Ledger::countForeignPod(const Pod& pod) {
  const auto node = Counter::nodeOfForeignPod(*this, pod);
  if (node) add(*node, {.pod = &pod});
}

void Ledger::forgetForeignPod(const Pod& pod) {
  const auto node = Counter::nodeOfForeignPod(*this, pod);
  if (!node) return;
  std::erase_if(entries_[*node], [&](const Entry& entry) { return entry.pod == &pod; });
  ++versionWithoutJobs_;
  markChanged(*node);
}

void Ledger::add(std::size_t node, Entry entry) {
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

void Ledger::markChanged(std::size_t node) { changed_.push_back(static_cast<std::uint32_t>(node)); }

// Many entries are summed by halves. Each subtraction walks all resource names that the node's pods use, and
// only the kubelet bounds how many pods name a node.
void Ledger::subtractAll(std::span<const Entry> entries, WhichEntries which, Resources& from) {
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
void Ledger::addUpChanged() {
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

const Pod* Ledger::findPod(const model::ObjectKey& key) const { return podList_.find(key); }

const Ledger::Owner* Ledger::findOwner(const model::Uid& uid) const {
  const auto found = owners_.find(uid);
  return found == owners_.end() ? nullptr : &found->second;
}

std::optional<std::size_t> Ledger::find(const model::NodeName& name) const {
  return byName_.find(name.str());
}

Resources Ledger::freeWithoutJobs(std::size_t node) const {
  Resources into;
  return freeWithoutJobs(node, into);
}

const Resources& Ledger::freeWithoutJobs(std::size_t node, Resources& into) const {
  const Resources& all = nodes_[node].node->allocatable;
  const std::vector<Entry>& entries = entries_[node];
  if (std::all_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.job != nullptr; }))
    return all;
  into = all;
  subtractAll(entries, WhichEntries::kOfNoJob, into);
  return into;
}

bool Ledger::hostsSpreadGang(std::size_t node, const Job* asking) const {
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

void Ledger::take(std::size_t node, const Resources& requests, int count, const Job* by) {
  Resources amount = requests.times(count);
  nodes_[node].subtract(amount);
  ++takes_;
  taken_.push_back({node, {.job = by, .assigned = std::move(amount)}});
}

void Ledger::giveBack(std::size_t node, const Resources& requests, int count, const Job* by) {
  const Resources amount = requests.times(count);
  nodes_[node].add(amount);
  ++takes_;
  const auto found = std::find_if(taken_.rbegin(), taken_.rend(), [&](const auto& each) {
    return each.first == node && each.second.job == by && each.second.assigned == amount;
  });
  if (found != taken_.rend()) taken_.erase(std::next(found).base());
}

}  // namespace trainyard::core
