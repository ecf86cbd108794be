#include <fmt/format.h>

#include "simulation/objects.h"
#include "simulation/world.h"

namespace trainyard::simulation {
namespace {

using namespace std::chrono_literals;

constexpr const char* kJobs = "/apis/trainyard.dev/v1alpha1/namespaces/default/trainingjobs/";
constexpr const char* kPods = "/api/v1/namespaces/default/pods/";
constexpr const char* kNodes = "/api/v1/nodes/";
// The milliseconds within which a job must get its proposal to be affected during its start.
constexpr int kLooks = 5'000;
constexpr const char* kMergePatch = "application/merge-patch+json";

std::string allocatable(int gpus) {
  return fmt::format(R"({{"status":{{"allocatable":{{"nvidia.com/gpu":"{}"}}}}}})", gpus);
}

std::string unschedulable(bool on) { return fmt::format(R"({{"spec":{{"unschedulable":{}}}}})", on); }

std::string suspended(bool on) { return fmt::format(R"({{"spec":{{"run":{{"suspend":{}}}}}}})", on); }

}  // namespace

void World::strike(const TroublePlan& trouble) {
  trace_.add(cluster_->loop().now(), "trouble", std::to_string(static_cast<int>(trouble.kind)),
             std::to_string(trouble.pick));
  switch (trouble.kind) {
    case Trouble::kDeleteJob:
    case Trouble::kSuspendJob:
    case Trouble::kResumeJob:
    case Trouble::kEditJob:
    case Trouble::kScaleJob:
    case Trouble::kRecreateJob:
    case Trouble::kDeleteMember:
    case Trouble::kMemberKubeletDown:
    case Trouble::kCordonStarting:
    case Trouble::kSuspendStarting:
    case Trouble::kScaleResizing:
    case Trouble::kCrashResizing:
    case Trouble::kHoldGang:
    case Trouble::kReleaseGang:
    case Trouble::kScaleOwner:
    case Trouble::kTakeName: return strikeJob(trouble);
    case Trouble::kNewQueue: return newQueue(trouble.pick);
    case Trouble::kForeignPod: return foreignPod(trouble.amount);
    case Trouble::kExtenderDown: return cluster_->setExtenderUp(false);
    case Trouble::kExtenderUp: return cluster_->setExtenderUp(true);
    case Trouble::kCrash:
    case Trouble::kStop:
    case Trouble::kPause: return strikeOperator(trouble);
    case Trouble::kCompact: return cluster_->server().compact();
    case Trouble::kEndWatches: return cluster_->server().endWatches();
    default: return strikeNode(trouble);
  }
}

// --- jobs
// -----------------------------------------------------------------------------------------------------------

void World::strikeJob(const TroublePlan& trouble) {
  const JobPlan* plan = scenario_.pickedJob(trouble.pick);
  if (plan == nullptr) return;
  if (trouble.kind == Trouble::kTakeName) return takeName(*plan);
  const JobPtr now = jobOf(*plan);
  if (trouble.kind == Trouble::kSuspendStarting || trouble.kind == Trouble::kCordonStarting) {
    return strikeStarting(*plan, trouble.kind, kLooks);
  }
  if (trouble.kind == Trouble::kScaleResizing || trouble.kind == Trouble::kCrashResizing)
    return strikeResizing(*plan, trouble, kLooks);
  if (plan->owner != OwnerPlan::kNone) return strikeOwner(*plan, trouble);
  if (!now) return;
  switch (trouble.kind) {
    case Trouble::kDeleteJob: return deleteJob(plan->name);
    case Trouble::kSuspendJob: return patchJob(plan->name, suspended(true));
    case Trouble::kResumeJob: return patchJob(plan->name, suspended(false));
    case Trouble::kEditJob:
      // As the rules of the definition permit.
      if (now->spec.run.suspend)
        patchJob(plan->name, editedJson(*plan, trouble.amount, scenario_.defaultCpus == 0));
      return;
    case Trouble::kScaleJob: return scaleJob(*plan, trouble.amount);
    case Trouble::kRecreateJob:
      deleteJob(plan->name);
      cluster_->loop().postAfter(std::chrono::milliseconds(trouble.pick % 3'000),
                                 [this, plan] { submit(*plan); });
      return;
    case Trouble::kMemberKubeletDown:
      for (const auto& pod : truth().pods.all()) {
        if (pod->controllerUid == now->uid && pod->bound())
          return cluster_->kubelets().setUp(pod->node, false);
      }
      return;
    default: return deleteMember(now->uid, trouble.pick);
  }
}

// No job uses the queue; it causes events for the operators' watches.
void World::newQueue(std::uint64_t pick) {
  static_cast<void>(cluster_->create(fmt::format(
      R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"Queue","metadata":{{"name":"q{}"}},"spec":{{}}}})",
      pick % 1000)));
}

void World::strikeStarting(const JobPlan& plan, Trouble kind, int looks) {
  const JobPtr now = jobOf(plan);
  if (now && now->status.gang.proposal) {
    if (kind == Trouble::kSuspendStarting && plan.owner != OwnerPlan::kNone) return holdGang(plan, true);
    if (kind == Trouble::kSuspendStarting) return patchJob(plan.name, suspended(true));
    const auto& add = now->status.gang.proposal->add;
    if (!add.empty()) patchNode(add.front().node.str(), unschedulable(true), false);
    return;
  }
  if (looks == 0) return;
  cluster_->loop().postAfter(1ms, [this, &plan, kind, looks] { strikeStarting(plan, kind, looks - 1); });
}

void World::strikeResizing(const JobPlan& plan, const TroublePlan& trouble, int looks) {
  const JobPtr now = job(plan.name);
  const auto underWay = [](const model::Job& each) {
    const auto& gang = each.status.gang;
    return gang.placed && gang.proposal;
  };
  if (now && underWay(*now)) {
    if (trouble.kind == Trouble::kScaleResizing) return scaleJob(plan, trouble.amount);
    if (const auto leader = cluster_->operators().leader()) killAndReplace(*leader);
    return;
  }
  if (looks == 0) return;
  cluster_->loop().postAfter(1ms,
                             [this, &plan, trouble, looks] { strikeResizing(plan, trouble, looks - 1); });
}

void World::scaleJob(const JobPlan& plan, int replicas) {
  if (plan.elastic && job(plan.name))
    patchJob(plan.name, fmt::format(R"({{"spec":{{"elastic":{{"replicas":{}}}}}}})", replicas));
}

void World::deleteJob(const std::string& name) {
  static_cast<void>(cluster_->request(net::Method::kDelete, kJobs + name));
}

void World::patchJob(const std::string& name, const std::string& patch) {
  const auto done = cluster_->request(net::Method::kPatch, kJobs + name, patch, kMergePatch);
  if (!done) problem(fmt::format("job {} could not be changed: {}", name, done.error().message));
}

void World::deleteMember(const model::Uid& job, std::uint64_t pick) {
  std::vector<std::string> names;
  for (const auto& pod : truth().pods.all()) {
    if (pod->controllerUid == job) names.push_back(pod->key.name);
  }
  if (names.empty()) return;
  static_cast<void>(cluster_->request(net::Method::kDelete, kPods + names[pick % names.size()]));
}

void World::foreignPod(int gpus) {
  const auto runFor = std::chrono::milliseconds(500 + 700 * (foreignPods_ % 7));
  const std::string name = fmt::format("foreign-{}", foreignPods_++);
  const auto made = cluster_->create(foreignPodJson(name, std::min(gpus, scenario_.gpusOnNode), runFor));
  if (!made) problem(fmt::format("foreign pod {} was refused: {}", name, made.error().message));
}

void World::takeName(const JobPlan& plan) {
  static_cast<void>(cluster_->create(foreignPodJson(plan.name + "-worker-0", 0, 2s)));
}

// --- nodes
// ----------------------------------------------------------------------------------------------------------

void World::strikeNode(const TroublePlan& trouble) {
  const std::string name = fmt::format("n{:04}", trouble.pick % static_cast<std::uint64_t>(scenario_.nodes));
  const model::NodeName node(name);
  if (trouble.kind == Trouble::kReturnNode) return returnNode(name);
  if (!truth().nodes.find(node)) return;
  switch (trouble.kind) {
    case Trouble::kDeleteNode:
      if (const auto body = cluster_->request(net::Method::kGet, kNodes + name)) goneNodes_[name] = *body;
      static_cast<void>(cluster_->request(net::Method::kDelete, kNodes + name));
      return;
    case Trouble::kCordon: return patchNode(name, unschedulable(true), false);
    case Trouble::kUncordon: return patchNode(name, unschedulable(false), false);
    case Trouble::kKubeletDown: return cluster_->kubelets().setUp(node, false);
    case Trouble::kKubeletUp: return cluster_->kubelets().setUp(node, true);
    case Trouble::kNoGpus: return patchNode(name, allocatable(0), true);
    case Trouble::kGpusBack: return patchNode(name, allocatable(scenario_.gpusOnNode), true);
    case Trouble::kTaint: return setTaint(name, true);
    case Trouble::kUntaint: return setTaint(name, false);
    default: return;
  }
}

void World::patchNode(const std::string& name, const std::string& patch, bool status) {
  static_cast<void>(
      cluster_->request(net::Method::kPatch, kNodes + name + (status ? "/status" : ""), patch, kMergePatch));
}

// A merge patch replaces the whole list; the node controller restores its own taints.
void World::setTaint(const std::string& name, bool on) {
  patchNode(
      name,
      on ? fmt::format(R"({{"spec":{{"taints":[{{"key":"{}","effect":"NoSchedule"}}]}}}})", kMaintenanceTaint)
         : R"({"spec":{"taints":null}})",
      false);
}

void World::returnNode(const std::string& name) {
  const auto gone = goneNodes_.find(name);
  if (gone == goneNodes_.end() || truth().nodes.find(model::NodeName(name))) return;
  static_cast<void>(cluster_->create(nodeJson(gone->second)));
  goneNodes_.erase(gone);
}

// --- operators
// ------------------------------------------------------------------------------------------------------

void World::strikeOperator(const TroublePlan& trouble) {
  const auto all = cluster_->operators().numbers();
  if (all.empty()) return;
  // Mostly the leader, which has something to lose.
  const auto leader = cluster_->operators().leader();
  const int number = leader && trouble.pick % 4 != 0 ? *leader : all[trouble.pick % all.size()];
  if (trouble.kind == Trouble::kPause) return pause(number, std::chrono::seconds(trouble.amount));
  if (trouble.kind == Trouble::kCrash) return killAndReplace(number);
  if (paused_.contains(number)) return;
  cluster_->operators().stop(number);
  cluster_->loop().postAfter(1s, [this] { cluster_->operators().start(); });
}

void World::pause(int number, base::Instant::duration span) {
  if (!paused_.insert(number).second) return;
  cluster_->operators().pause(number);
  laws_->lateFor(span);
  cluster_->loop().postAfter(span, [this, number] {
    paused_.erase(number);
    cluster_->operators().resume(number);
  });
}

void World::killAndReplace(int number) {
  cluster_->operators().kill(number);
  cluster_->loop().postAfter(1s, [this] { cluster_->operators().start(); });
}

// --- the end of all troubles
// ----------------------------------------------------------------------------------------

void World::heal() {
  cluster_->setExtenderUp(true);
  for (int i = 0; i < scenario_.nodes; ++i) {
    const std::string name = fmt::format("n{:04}", i);
    returnNode(name);
    cluster_->kubelets().setUp(model::NodeName(name), true);
    patchNode(name, unschedulable(false), false);
    patchNode(name, allocatable(scenario_.gpusOnNode), true);
    setTaint(name, false);
  }
  for (const JobPlan& plan : scenario_.jobs) {
    const JobPtr now = jobOf(plan);
    if (plan.owner != OwnerPlan::kNone) {
      holdGang(plan, false);
    } else if (now && now->spec.run.suspend) {
      patchJob(plan.name, suspended(false));
    }
    // The foreign pod with a member's name is deleted.
    const auto pod = truth().pods.find({"default", plan.name + "-worker-0"});
    if (pod && pod->controllerUid.empty()) {
      static_cast<void>(cluster_->request(net::Method::kDelete, kPods + pod->key.name));
    }
  }
}

}  // namespace trainyard::simulation
