#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/snapshot.h"

// Short builders of model values for tests. Every builder converts to the value it builds:
//
// Snapshot snapshot = cluster()
// .add(node("n1").gpus(8).rack("r1"))
// .add(pod("ns/filler").on("n1").gpus(4))
// .add(job("ml/bert").role("worker", 2, gpus(4)).required("rack"));
//
// Nodes are ready and have 110 pods, 128 cpu and 1 TiB of memory by default.
namespace trainyard::test {

inline constexpr std::int64_t kGi = std::int64_t{1} << 30;

[[nodiscard]] model::ObjectKey key(
    std::string_view namespaceAndName);  // "ml/bert"; without a slash: "default/…"
// The moment `seconds` after an arbitrary fixed start.
[[nodiscard]] base::WallTime at(std::int64_t seconds);

// The requests of one pod: pods = 1 and the given amounts.
[[nodiscard]] model::Resources gpus(std::int64_t count);
[[nodiscard]] model::Resources cpus(std::int64_t count);
[[nodiscard]] model::Resources requests(std::int64_t gpuCount, std::int64_t cpuCount,
                                        std::int64_t memoryGi = 0);

class NodeBuilder {
 public:
  explicit NodeBuilder(std::string_view name);
  NodeBuilder& gpus(std::int64_t count);
  NodeBuilder& cpu(std::int64_t cores);
  NodeBuilder& memoryGi(std::int64_t amount);
  NodeBuilder& pods(std::int64_t count);
  NodeBuilder& extended(std::string_view resource, std::int64_t amount);
  NodeBuilder& zone(std::string_view value);
  NodeBuilder& block(std::string_view value);
  NodeBuilder& rack(std::string_view value);
  NodeBuilder& label(std::string_view name, std::string_view value);
  NodeBuilder& taint(std::string_view name, std::string_view value = "",
                     model::TaintEffect effect = model::TaintEffect::kNoSchedule);
  NodeBuilder& cordoned();
  NodeBuilder& notReady();
  NodeBuilder& deleting();
  operator model::Node() const { return node_; }  // NOLINT(google-explicit-constructor)

 private:
  model::Node node_;
  std::vector<std::pair<std::string, std::string>> labels_;
};

class PodBuilder {
 public:
  explicit PodBuilder(std::string_view namespaceAndName);
  PodBuilder& on(std::string_view nodeName);        // bound
  PodBuilder& pinnedTo(std::string_view nodeName);  // required affinity by metadata.name, unbound
  PodBuilder& gated();                              // by the gang gate
  PodBuilder& gpus(std::int64_t count);
  PodBuilder& cpu(std::int64_t cores);
  PodBuilder& requests(const model::Resources& amount);
  PodBuilder& phase(model::PodPhase phase);
  PodBuilder& terminating();
  PodBuilder& uid(std::string_view uid);
  PodBuilder& priority(int value);
  // Member of a job: controller reference, labels and name follow from it.
  PodBuilder& memberOf(const model::Job& job, std::string_view role, int index, std::int64_t epoch = 1);
  // Has that place in a Gang; it keeps its own name.
  PodBuilder& placedIn(const model::Job& gang, std::string_view role, int index, std::int64_t epoch = 1);
  // Asks for a place in a Gang. `rank`: negative for any.
  PodBuilder& arrives(const model::Job& gang, std::string_view role, int rank = -1);
  PodBuilder& created(std::int64_t seconds);
  PodBuilder& ownedBy(std::string_view kind, std::string_view uid);
  operator model::Pod() const { return pod_; }  // NOLINT(google-explicit-constructor)

 private:
  model::Pod pod_;
};

class JobBuilder {
 public:
  explicit JobBuilder(std::string_view namespaceAndName);  // uid "uid-NAMESPACE-NAME", queue "default"
  JobBuilder& role(std::string_view name, int replicas, const model::Resources& requests);
  // These change the role added last.
  JobBuilder& select(std::string_view label, std::string_view value);
  JobBuilder& tolerate(std::string_view taint);  // Exists, every effect
  JobBuilder& affinity(std::vector<model::NodeSelectorTerm> terms);

  // Makes the role added last elastic and the job preemptible; the helper notifies members of each size.
  JobBuilder& elastic(int replicas, int minReplicas, int maxReplicas);
  JobBuilder& required(std::string_view level);
  JobBuilder& priority(std::string_view className);
  JobBuilder& queue(std::string_view name);
  JobBuilder& created(std::int64_t seconds);
  JobBuilder& deleting();
  JobBuilder& suspended();
  // A Gang: of bare pods, or of an object that its kind can suspend.
  JobBuilder& ofPods();
  JobBuilder& ownedByJobSet(bool suspended);
  JobBuilder& condition(std::string_view type, bool value = true);
  // Adds to status.gang.placed / status.gang.proposal.add; indices as "0-3,7".
  JobBuilder& placed(std::string_view nodeName, std::string_view role, std::string_view indices,
                     std::int64_t epoch = 1);
  JobBuilder& proposes(std::string_view nodeName, std::string_view role, std::string_view indices,
                       model::ProposalPhase phase = model::ProposalPhase::kReserved, std::int64_t epoch = 1);
  JobBuilder& proposalKind(model::ProposalKind kind);
  JobBuilder& victim(const model::Pod& pod);
  [[nodiscard]] model::Job build() const { return job_; }
  operator model::Job() const { return job_; }  // NOLINT(google-explicit-constructor)

 private:
  model::Job job_;
};

class SnapshotBuilder {
 public:
  SnapshotBuilder& add(model::Node node);
  SnapshotBuilder& add(model::Pod pod);
  SnapshotBuilder& add(model::Job job);
  SnapshotBuilder& add(model::Queue queue);
  SnapshotBuilder& priorityClass(std::string_view name, int value, bool globalDefault = false,
                                 bool preempts = true);
  SnapshotBuilder& topology(std::vector<model::TopologyLevel> levels);
  SnapshotBuilder& now(std::int64_t seconds);
  // Sorted as in the caches.
  [[nodiscard]] model::Snapshot build() const;
  operator model::Snapshot() const { return build(); }  // NOLINT(google-explicit-constructor)

 private:
  model::Snapshot snapshot_;
};

[[nodiscard]] inline NodeBuilder node(std::string_view name) { return NodeBuilder(name); }
[[nodiscard]] inline PodBuilder pod(std::string_view namespaceAndName) {
  return PodBuilder(namespaceAndName);
}
[[nodiscard]] inline JobBuilder job(std::string_view namespaceAndName) {
  return JobBuilder(namespaceAndName);
}
[[nodiscard]] inline SnapshotBuilder cluster() { return {}; }

// Returns the object of that name; fails the test if there is none.
[[nodiscard]] const model::Job& jobIn(const model::Snapshot& snapshot, std::string_view namespaceAndName);

}  // namespace trainyard::test
