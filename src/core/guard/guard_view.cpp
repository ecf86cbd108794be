#include "core/guard/guard_view.h"

#include <utility>

#include "base/saturating.h"
#include "core/ledger/ledger.h"

namespace trainyard::core {
namespace {

void count(const Ledger::Holding& holding, GuardNode& node) {
  const model::Pod* pod = holding.pod;
  // A job of the snapshot. A pod that only claims a job could otherwise keep others off a node while it stays
  // unbound; and the pods of a deleted job are deleted soon after it.
  const bool ofGang = holding.job != nullptr;
  const bool bound = pod != nullptr && pod->bound();
  if (ofGang && bound) {
    node.running = true;
    node.runningGpus = base::saturatingAdd(node.runningGpus, holding.amount.gpus());
  } else if (ofGang) {
    node.reserved = true;
    node.reservedGpus = base::saturatingAdd(node.reservedGpus, holding.amount.gpus());
  } else if (!bound) {
    node.free.add(holding.amount);
  } else if (pod->terminating) {
    node.leaving.add(holding.amount);
  }
}

}  // namespace

GuardView::GuardView(model::Snapshot snapshot) : GuardView(snapshot, Ledger(snapshot)) {}

GuardView::GuardView(model::Snapshot snapshot, const Ledger& ledger) : snapshot_(std::move(snapshot)) {
  nodes_.reserve(ledger.nodes().size());
  nodeByName_.reserve(ledger.nodes().size());
  for (std::size_t i = 0; i < ledger.nodes().size(); ++i) addNode(ledger, i);
  jobByUid_.reserve(snapshot_.jobs.size());
  for (const auto& job : snapshot_.jobs) jobByUid_.emplace(job->uid.str(), job.get());
}

void GuardView::addNode(const Ledger& ledger, std::size_t index) {
  const Ledger::NodeCapacity& capacity = ledger.nodes()[index];
  GuardNode node{.node = capacity.node, .free = capacity.free, .gpus = capacity.node->allocatable.gpus()};
  ledger.forEachHolding(index, [&](const Ledger::Holding& holding) { count(holding, node); });
  node.freeGpus = node.free.gpus();
  nodeByName_.emplace(capacity.node->name.str(), nodes_.size());
  nodes_.push_back(std::move(node));
}

const GuardNode* GuardView::findNode(std::string_view name) const {
  const auto at = nodeByName_.find(name);
  return at == nodeByName_.end() ? nullptr : &nodes_[at->second];
}

const model::Job* GuardView::findJob(const model::Uid& uid) const {
  const auto at = jobByUid_.find(uid.str());
  return at == jobByUid_.end() ? nullptr : at->second;
}

}  // namespace trainyard::core
