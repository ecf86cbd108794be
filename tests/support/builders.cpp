#include "tests/support/builders.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "model/names.h"

namespace trainyard::test {
namespace {

template <typename T>
void sortByName(std::vector<std::shared_ptr<const T>>& list) {
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    if constexpr (requires { a->key; }) {
      return a->key < b->key;
    } else {
      return a->name < b->name;
    }
  });
}

// A test that builds an invalid value must stop at once instead of comparing garbage.
model::IndexSet indexSet(std::string_view text) {
  const auto parsed = model::IndexSet::parse(text);
  if (!parsed) throw std::invalid_argument(parsed.error().message);
  return *parsed;
}

template <typename List, typename Match>
const auto& findIn(const List& list, std::string_view what, Match match) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return match(*entry); });
  if (found == list.end()) throw std::invalid_argument(fmt::format("no {} in the snapshot", what));
  return **found;
}

}  // namespace

model::ObjectKey key(std::string_view namespaceAndName) {
  const auto slash = namespaceAndName.find('/');
  if (slash == std::string_view::npos) return {"default", std::string(namespaceAndName)};
  return {std::string(namespaceAndName.substr(0, slash)), std::string(namespaceAndName.substr(slash + 1))};
}

base::WallTime at(std::int64_t seconds) {
  return base::WallTime{std::chrono::days{20'000}} + std::chrono::seconds{seconds};
}

model::Resources requests(std::int64_t gpuCount, std::int64_t cpuCount, std::int64_t memoryGi) {
  model::Resources amount;
  amount.pods = 1;
  amount.cpu.value = cpuCount * 1000;
  amount.memory.value = memoryGi * kGi;
  amount.setExtended(model::names::kGpuResource, gpuCount);
  return amount;
}

model::Resources gpus(std::int64_t count) { return requests(count, 0); }
model::Resources cpus(std::int64_t count) { return requests(0, count); }

NodeBuilder::NodeBuilder(std::string_view name) {
  node_.name = model::NodeName(name);
  node_.uid = model::Uid(fmt::format("uid-{}", name));
  node_.ready = true;
  node_.allocatable.pods = 110;
  cpu(128).memoryGi(1024).label(model::names::kHostnameLabel, name);
}

NodeBuilder& NodeBuilder::gpus(std::int64_t count) { return extended(model::names::kGpuResource, count); }

NodeBuilder& NodeBuilder::cpu(std::int64_t cores) {
  node_.allocatable.cpu.value = cores * 1000;
  return *this;
}

NodeBuilder& NodeBuilder::memoryGi(std::int64_t amount) {
  node_.allocatable.memory.value = amount * kGi;
  return *this;
}

NodeBuilder& NodeBuilder::pods(std::int64_t count) {
  node_.allocatable.pods = count;
  return *this;
}

NodeBuilder& NodeBuilder::extended(std::string_view resource, std::int64_t amount) {
  node_.allocatable.setExtended(resource, amount);
  return *this;
}

NodeBuilder& NodeBuilder::zone(std::string_view value) { return label("topology.kubernetes.io/zone", value); }
NodeBuilder& NodeBuilder::block(std::string_view value) {
  return label("cloud.provider.com/topology-block", value);
}
NodeBuilder& NodeBuilder::rack(std::string_view value) {
  return label("cloud.provider.com/topology-rack", value);
}

NodeBuilder& NodeBuilder::label(std::string_view name, std::string_view value) {
  labels_.emplace_back(name, value);
  node_.labels = model::Labels(labels_);
  return *this;
}

NodeBuilder& NodeBuilder::taint(std::string_view name, std::string_view value, model::TaintEffect effect) {
  node_.taints.push_back({std::string(name), std::string(value), effect});
  return *this;
}

NodeBuilder& NodeBuilder::cordoned() {
  node_.unschedulable = true;
  return *this;
}

NodeBuilder& NodeBuilder::notReady() {
  node_.ready = false;
  return *this;
}

NodeBuilder& NodeBuilder::deleting() {
  node_.deleting = true;
  return *this;
}

PodBuilder::PodBuilder(std::string_view namespaceAndName) {
  pod_.key = key(namespaceAndName);
  pod_.uid = model::Uid(fmt::format("uid-{}-{}", pod_.key.ns, pod_.key.name));
  pod_.shape.requests.pods = 1;
}

PodBuilder& PodBuilder::on(std::string_view nodeName) {
  pod_.node = model::NodeName(nodeName);
  pod_.phase = model::PodPhase::kRunning;
  return *this;
}

PodBuilder& PodBuilder::pinnedTo(std::string_view nodeName) {
  pod_.pinned = model::NodeName(nodeName);
  return *this;
}

PodBuilder& PodBuilder::gated() {
  pod_.gated = true;
  pod_.gangGated = true;
  return *this;
}

PodBuilder& PodBuilder::gpus(std::int64_t count) {
  pod_.shape.requests.setExtended(model::names::kGpuResource, count);
  return *this;
}

PodBuilder& PodBuilder::cpu(std::int64_t cores) {
  pod_.shape.requests.cpu.value = cores * 1000;
  return *this;
}

PodBuilder& PodBuilder::requests(const model::Resources& amount) {
  pod_.shape.requests = amount;
  return *this;
}

PodBuilder& PodBuilder::phase(model::PodPhase phase) {
  pod_.phase = phase;
  return *this;
}

PodBuilder& PodBuilder::terminating() {
  pod_.terminating = true;
  pod_.deletionTime = at(0);
  return *this;
}

PodBuilder& PodBuilder::uid(std::string_view uid) {
  pod_.uid = model::Uid(uid);
  return *this;
}

PodBuilder& PodBuilder::priority(int value) {
  pod_.priority = value;
  return *this;
}

PodBuilder& PodBuilder::memberOf(const model::Job& job, std::string_view role, int index,
                                 std::int64_t epoch) {
  pod_.key = {job.key.ns, model::podName(job.key.name, role, index)};
  pod_.uid = model::Uid(fmt::format("uid-{}-{}-{}", pod_.key.ns, pod_.key.name, epoch));
  pod_.member = model::MemberLabels{job.key.name, std::string(role), index, epoch};
  if (const model::Role* found = job.spec.findRole(role)) pod_.shape = found->shape;
  return ownedBy(model::names::kTrainingJobKind, job.uid.str());
}

PodBuilder& PodBuilder::placedIn(const model::Job& gang, std::string_view role, int index,
                                 std::int64_t epoch) {
  pod_.key.ns = gang.key.ns;
  pod_.gangUid = gang.uid;
  pod_.member = model::MemberLabels{gang.key.name, std::string(role), index, epoch};
  pod_.shape = gang.spec.findRole(role)->shape;
  return *this;
}

PodBuilder& PodBuilder::arrives(const model::Job& gang, std::string_view role, int rank) {
  pod_.key.ns = gang.key.ns;
  pod_.arrival =
      std::make_shared<const model::Arrival>(model::Arrival{gang.key.name, std::string(role), rank});
  pod_.gated = true;
  pod_.shape = gang.spec.findRole(role)->shape;
  return *this;
}

PodBuilder& PodBuilder::created(std::int64_t seconds) {
  pod_.created = at(seconds);
  return *this;
}

PodBuilder& PodBuilder::ownedBy(std::string_view kind, std::string_view uid) {
  pod_.controllerKind = std::string(kind);
  pod_.controllerUid = model::Uid(uid);
  return *this;
}

JobBuilder::JobBuilder(std::string_view namespaceAndName) {
  job_.key = key(namespaceAndName);
  job_.uid = model::Uid(fmt::format("uid-{}-{}", job_.key.ns, job_.key.name));
  job_.resourceVersion = "1";
  job_.generation = 1;
  job_.created = at(0);
  job_.spec.queue = model::QueueName(model::names::kDefaultQueue);
  job_.spec.templateHash = "hash-1";
}

JobBuilder& JobBuilder::role(std::string_view name, int replicas, const model::Resources& requests) {
  model::Role role;
  role.name = std::string(name);
  role.replicas = replicas;
  role.shape.requests = requests;
  role.shape.requests.pods = 1;
  role.templateJson = "{}";
  job_.spec.roles.push_back(std::move(role));
  return *this;
}

JobBuilder& JobBuilder::select(std::string_view label, std::string_view value) {
  model::PodShape& shape = job_.spec.roles.back().shape;
  auto entries = shape.nodeSelector.entries();
  entries.emplace_back(label, value);
  shape.nodeSelector = model::Labels(std::move(entries));
  return *this;
}

JobBuilder& JobBuilder::tolerate(std::string_view taint) {
  model::Toleration toleration;
  toleration.key = std::string(taint);
  toleration.exists = true;
  job_.spec.roles.back().shape.tolerations.push_back(std::move(toleration));
  return *this;
}

JobBuilder& JobBuilder::affinity(std::vector<model::NodeSelectorTerm> terms) {
  job_.spec.roles.back().shape.affinity = std::move(terms);
  return *this;
}

JobBuilder& JobBuilder::required(std::string_view level) {
  job_.spec.locality.required = std::string(level);
  return *this;
}

JobBuilder& JobBuilder::priority(std::string_view className) {
  job_.spec.priorityClassName = std::string(className);
  return *this;
}

JobBuilder& JobBuilder::queue(std::string_view name) {
  job_.spec.queue = model::QueueName(name);
  return *this;
}

JobBuilder& JobBuilder::created(std::int64_t seconds) {
  job_.created = at(seconds);
  return *this;
}

JobBuilder& JobBuilder::deleting() {
  job_.deleting = true;
  return *this;
}

JobBuilder& JobBuilder::ofPods() {
  job_.owner = std::make_shared<const model::Owner>(
      model::Owner{.apiVersion = "v1", .kind = "Pod", .name = {}, .uid = {}});
  return *this;
}

JobBuilder& JobBuilder::ownedByJobSet(bool suspended) {
  job_.owner = std::make_shared<const model::Owner>(model::Owner{.apiVersion = "jobset.x-k8s.io/v1alpha2",
                                                                 .kind = "JobSet",
                                                                 .name = "llama",
                                                                 .uid = model::Uid("uid-jobset"),
                                                                 .known = true,
                                                                 .suspends = true,
                                                                 .suspended = suspended});
  return *this;
}

JobBuilder& JobBuilder::suspended() {
  job_.spec.run.suspend = true;
  return *this;
}

JobBuilder& JobBuilder::elastic(int replicas, int minReplicas, int maxReplicas) {
  job_.spec.preemptible = true;
  job_.spec.checkpoint = model::Checkpoint{.mode = model::CheckpointMode::kHelper};
  job_.spec.elastic = model::Elastic{.role = job_.spec.roles.back().name,
                                     .replicas = replicas,
                                     .minReplicas = minReplicas,
                                     .maxReplicas = maxReplicas};
  return *this;
}

JobBuilder& JobBuilder::condition(std::string_view type, bool value) {
  model::Condition condition;
  condition.type = std::string(type);
  condition.status = value ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse;
  condition.reason = "Test";
  condition.lastTransition = at(0);
  job_.status.conditions.push_back(std::move(condition));
  return *this;
}

JobBuilder& JobBuilder::placed(std::string_view nodeName, std::string_view role, std::string_view indices,
                               std::int64_t epoch) {
  auto& placed = job_.status.gang.placed;
  if (!placed) placed.emplace();
  placed->epoch = epoch;
  placed->assignments.push_back({model::NodeName(nodeName), std::string(role), indexSet(indices)});
  return *this;
}

JobBuilder& JobBuilder::proposes(std::string_view nodeName, std::string_view role, std::string_view indices,
                                 model::ProposalPhase phase, std::int64_t epoch) {
  auto& proposal = job_.status.gang.proposal;
  if (!proposal) {
    proposal.emplace();
    proposal->id = "p1";
    proposal->generation = job_.generation;
    proposal->templateHash = job_.spec.templateHash;
    proposal->deadline = at(3600);
  }
  proposal->phase = phase;
  proposal->epoch = epoch;
  proposal->add.push_back({model::NodeName(nodeName), std::string(role), indexSet(indices)});
  return *this;
}

JobBuilder& JobBuilder::proposalKind(model::ProposalKind kind) {
  job_.status.gang.proposal.value().kind = kind;
  return *this;
}

JobBuilder& JobBuilder::victim(const model::Pod& pod) {
  job_.status.gang.proposal.value().victims.push_back({pod.key, pod.uid, pod.node});
  return *this;
}

SnapshotBuilder& SnapshotBuilder::add(model::Node node) {
  snapshot_.nodes.push_back(std::make_shared<const model::Node>(std::move(node)));
  return *this;
}

SnapshotBuilder& SnapshotBuilder::add(model::Pod pod) {
  snapshot_.pods.push_back(std::make_shared<const model::Pod>(std::move(pod)));
  return *this;
}

SnapshotBuilder& SnapshotBuilder::add(model::Job job) {
  snapshot_.jobs.push_back(std::make_shared<const model::Job>(std::move(job)));
  return *this;
}

SnapshotBuilder& SnapshotBuilder::add(model::Queue queue) {
  snapshot_.queues.push_back(std::make_shared<const model::Queue>(std::move(queue)));
  return *this;
}

SnapshotBuilder& SnapshotBuilder::priorityClass(std::string_view name, int value, bool globalDefault,
                                                bool preempts) {
  snapshot_.priorityClasses.push_back(std::make_shared<const model::PriorityClass>(
      model::PriorityClass{std::string(name), value, globalDefault, preempts}));
  return *this;
}

SnapshotBuilder& SnapshotBuilder::topology(std::vector<model::TopologyLevel> levels) {
  snapshot_.policy.topology = std::move(levels);
  return *this;
}

SnapshotBuilder& SnapshotBuilder::now(std::int64_t seconds) {
  snapshot_.now = at(seconds);
  return *this;
}

model::Snapshot SnapshotBuilder::build() const {
  model::Snapshot sorted = snapshot_;
  sortByName(sorted.nodes.edit());
  sortByName(sorted.pods.edit());
  sortByName(sorted.jobs.edit());
  sortByName(sorted.queues.edit());
  sortByName(sorted.priorityClasses.edit());
  return sorted;
}

const model::Job& jobIn(const model::Snapshot& snapshot, std::string_view namespaceAndName) {
  const model::ObjectKey wanted = key(namespaceAndName);
  return findIn(snapshot.jobs, namespaceAndName, [&](const model::Job& job) { return job.key == wanted; });
}

}  // namespace trainyard::test
