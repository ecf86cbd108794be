#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "core/cycle/cycle.h"
#include "model/names.h"
#include "support/builders.h"

namespace trainyard::test {

// A cluster that changes continuously. The actions of plans are done, late or not at all, and everything else
// changes as well: jobs of all kinds arrive and end, queues are edited, nodes change. Unchanged objects keep
// their pointers, as in the caches.
class LivingCluster {
 public:
  explicit LivingCluster(std::uint64_t seed) : rng_(seed) {
    for (int i = 0; i < kNodes; ++i) putNode(i);
    for (int i = 0; i < kQueues; ++i) putQueue(i);
    drawPolicy();
  }

  core::CycleInput look() {
    core::CycleInput input;
    input.snapshot.now = at(now_);
    for (const auto& [name, each] : nodes_) input.snapshot.nodes.push_back(each);
    for (const auto& [name, each] : pods_) input.snapshot.pods.push_back(each);
    for (const auto& [name, each] : queues_) input.snapshot.queues.push_back(each);
    input.snapshot.priorityClasses = priorities_;
    input.snapshot.policy = policy_;
    for (const auto& [name, each] : jobs_) {
      input.snapshot.jobs.push_back(each);
      core::JobFeedback feedback;
      feedback.busy = busy_.contains(name);
      feedback.auxiliariesReady = true;
      feedback.templateError = "";
      if (const auto asked = failures_.find({name, each->status.gang.lastEpoch}); asked != failures_.end())
        feedback.failure = asked->second;
      input.feedback.emplace(name, feedback);
    }
    busy_.clear();
    return input;
  }

  void carryOut(const core::Plan& plan) {
    for (const core::JobDecision& decision : plan.decisions) {
      const model::ObjectKey& name = decision.job->key;
      if (rng_.chance(1, 5)) {
        if (rng_.chance(1, 2)) busy_.insert(name);
        continue;
      }
      if (decision.status) {
        change(name, [&](model::Job& job) { job.status = *decision.status; });
      }
      for (const core::Action& action : decision.actions) {
        std::visit([&](const auto& each) { act(name, each); }, action);
      }
    }
    for (const core::DeletePod& orphan : plan.orphans) pods_.erase(orphan.pod);
  }

  void live() {
    now_ += rng_.chance(1, 6) ? rng_.between(30, 120) : rng_.between(0, 15);
    for (auto& [name, pod] : pods_) {
      if (pod->pinned && !pod->gated && !pod->bound() && rng_.chance(2, 3)) {
        edit(pod, [](model::Pod& p) { p.node = *p.pinned; });
      } else if (pod->bound() && pod->phase == model::PodPhase::kPending && rng_.chance(1, 2)) {
        edit(pod, [](model::Pod& p) { p.phase = model::PodPhase::kRunning; });
      }
    }
    switch (rng_.below(15)) {
      case 0:
      case 1:
      case 2:
      case 3: return submit();
      case 4: return endSomePod();
      case 5: return losePod();
      case 6: return changeNode();
      case 7: return suspendOrResume();
      case 8: return removeJob();
      case 9: return foreignPod();
      case 10: return pretender();
      case 11: return addVictim();
      case 12: return putQueue(static_cast<int>(rng_.below(kQueues)));
      case 13: return endGuarantees();
      default: return;
    }
  }

 private:
  template <typename Pointer, typename Change>
  static void edit(Pointer& pointer, Change change) {
    auto copy = std::make_shared<typename std::remove_const_t<typename Pointer::element_type>>(*pointer);
    change(*copy);
    pointer = std::move(copy);
  }

  template <typename Change>
  void change(const model::ObjectKey& name, Change what) {
    if (const auto found = jobs_.find(name); found != jobs_.end()) edit(found->second, what);
  }

  void putNode(int i) {
    NodeBuilder made = node(fmt::format("n{}", i)).zone("z").rack(fmt::format("r{}", rng_.below(3)));
    made.gpus(rng_.chance(1, 6) ? 0 : 4);
    if (rng_.chance(1, 8)) made.cordoned();
    if (rng_.chance(1, 8)) made.notReady();
    const model::Node each = made;
    nodes_[each.name] = std::make_shared<const model::Node>(each);
  }

  void changeNode() {
    const int i = static_cast<int>(rng_.below(kNodes));
    if (rng_.chance(1, 4)) {
      nodes_.erase(model::NodeName(fmt::format("n{}", i)));
    } else {
      putNode(i);
    }
  }

  void submit() {
    const auto members = static_cast<int>(rng_.between(1, 4));
    JobBuilder made =
        job(fmt::format("ml/j{}", jobsMade_++)).role("worker", members, gpus(rng_.between(1, 4)));
    const model::Job each = made.created(now_);
    auto whole = std::make_shared<model::Job>(each);
    drawWishes(whole->spec);
    whole->spec.failure.scope = rng_.chance(1, 2) ? model::RestartScope::kGang : model::RestartScope::kPod;
    whole->spec.run.cleanPodPolicy =
        rng_.chance(1, 2) ? model::CleanPodPolicy::kRunning : model::CleanPodPolicy::kAll;
    whole->hasReleaseFinalizer = true;
    jobs_[whole->key] = std::move(whole);
  }

  void drawWishes(model::JobSpec& spec) {
    // Occasionally a queue or a class that does not exist.
    if (rng_.chance(7, 8)) spec.queue = queueName(static_cast<int>(rng_.below(kQueues + 1)));
    if (rng_.chance(3, 4)) spec.priorityClassName = kClasses[rng_.below(4)];
    spec.preemptible = rng_.chance(3, 4);
    if (rng_.chance(1, 2)) spec.estimatedDuration = std::chrono::seconds(rng_.between(10, 300));
    if (rng_.chance(1, 4)) spec.locality.required = rng_.chance(1, 2) ? "rack" : "zone";
    if (rng_.chance(1, 4))
      spec.locality.levels.push_back({"rack", std::chrono::seconds(rng_.between(0, 60))});
    if (!spec.locality.levels.empty() && spec.locality.required == "zone") {
      spec.locality.levels.push_back({"zone", std::nullopt});
    }
  }

  static model::QueueName queueName(int i) { return model::QueueName(fmt::format("q{}", i)); }

  // Weights, guarantees, limits and parents are edited at any time; parents may even form a cycle.
  void putQueue(int i) {
    if (rng_.chance(1, 12)) {
      queues_.erase(queueName(i));
      return;
    }
    auto queue = std::make_shared<model::Queue>();
    queue->name = queueName(i);
    queue->uid = model::Uid(fmt::format("uid-q{}", i));
    queue->weight = rng_.between(1, 3);
    const bool anyParent = rng_.chance(1, 10);
    if (anyParent || (i > 0 && rng_.chance(1, 2)))
      queue->parent =
          queueName(static_cast<int>(rng_.below(static_cast<std::uint64_t>(anyParent ? kQueues : i))));
    const std::string gpu(model::names::kGpuResource);
    if (rng_.chance(1, 2)) queue->guaranteed.set(gpu, rng_.between(0, 8));
    if (rng_.chance(1, 3))
      queue->limit.set(gpu, std::max(queue->guaranteed.amount(gpu), rng_.between(0, 12)));
    if (rng_.chance(1, 8)) queue->limit.set("cpu", rng_.between(0, 100'000));
    queue->reclaim = rng_.chance(3, 4);
    queue->withinQueue = rng_.chance(3, 4) ? model::WithinQueue::kLowerPriority : model::WithinQueue::kNever;
    queues_[queue->name] = std::move(queue);
  }

  void endGuarantees() {
    for (auto& [name, queue] : queues_) edit(queue, [](model::Queue& each) { each.guaranteed = {}; });
  }

  void drawPolicy() {
    policy_.ordering = model::kOrderings.at(rng_.below(model::kOrderings.size())).ordering;
    policy_.backfill.reservationLimit = std::chrono::seconds(rng_.below(4) * 20);
    policy_.preemption.minRuntime = std::chrono::seconds(rng_.chance(1, 2) ? 0 : 60);
    policy_.relaxation.base = std::chrono::seconds(rng_.between(0, 60));
    policy_.timeSlicing.enabled = rng_.chance(1, 4);
    policy_.timeSlicing.interval = std::chrono::seconds(60);
    if (rng_.chance(1, 3)) policy_.usageHalfLife = std::chrono::seconds(600);
    policy_.chargeOtherPods = rng_.chance(1, 4);
    for (int i = 0; i < 3; ++i) {
      priorities_.push_back(std::make_shared<const model::PriorityClass>(
          model::PriorityClass{kClasses[i], 100 * i, i == 1 && rng_.chance(1, 2)}));
    }
  }

  template <typename Map>
  auto some(Map& map) {
    auto found = map.begin();
    if (!map.empty()) std::advance(found, rng_.below(map.size()));
    return found;
  }

  void endSomePod() {
    const auto found = some(pods_);
    if (found == pods_.end() || !found->second->bound()) return;
    const bool good = rng_.chance(3, 4);
    edit(found->second, [&](model::Pod& p) {
      p.phase = good ? model::PodPhase::kSucceeded : model::PodPhase::kFailed;
      p.exit = model::ContainerExit{good ? 0 : 1, {}, {}};
    });
  }

  void losePod() {
    const auto found = some(pods_);
    if (found == pods_.end()) return;
    if (rng_.chance(1, 2)) {
      pods_.erase(found);
    } else {
      edit(found->second, [](model::Pod& p) { p.terminating = true; });
    }
  }

  void suspendOrResume() {
    const auto found = some(jobs_);
    if (found == jobs_.end()) return;
    edit(found->second, [](model::Job& job) { job.spec.run.suspend = !job.spec.run.suspend; });
  }

  void removeJob() {
    const auto found = some(jobs_);
    if (found == jobs_.end()) return;
    if (rng_.chance(1, 3)) {
      jobs_.erase(found);
    } else {
      edit(found->second, [](model::Job& job) { job.deleting = true; });
    }
  }

  void foreignPod() {
    const model::Pod each =
        pod(fmt::format("other/p{}", foreignPods_++)).on(fmt::format("n{}", rng_.below(kNodes))).gpus(1);
    pods_[each.key] = std::make_shared<const model::Pod>(each);
  }

  // Adds a pod that names a job's uid as its owner, in the job's namespace or in another one.
  void pretender() {
    const auto owner = some(jobs_);
    if (owner == jobs_.end()) return;
    model::Pod each =
        pod("x").memberOf(*owner->second, "worker", static_cast<int>(rng_.below(4)), rng_.between(0, 2));
    each.key = {rng_.chance(1, 2) ? "ml" : "other", fmt::format("{}-like-{}", each.key.name, foreignPods_++)};
    each.pinned = model::NodeName(fmt::format("n{}", rng_.below(kNodes)));
    each.gated = rng_.chance(1, 3);
    if (rng_.chance(1, 3)) each.node = *each.pinned;
    pods_[each.key] = std::make_shared<const model::Pod>(each);
  }

  void addVictim() {
    const auto preemptor = some(jobs_);
    const auto victim = some(pods_);
    if (preemptor == jobs_.end() || victim == pods_.end() || !preemptor->second->status.gang.proposal) return;
    edit(preemptor->second, [&](model::Job& job) {
      const model::Pod& each = *victim->second;
      job.status.gang.proposal->victims.push_back({each.key, each.uid, each.node});
    });
  }

  void act(const model::ObjectKey&, const core::CheckTemplates&) {}
  void act(const model::ObjectKey& name, const core::AddFinalizer&) {
    change(name, [](model::Job& job) { job.hasReleaseFinalizer = true; });
  }
  void act(const model::ObjectKey& name, const core::RemoveFinalizer&) { jobs_.erase(name); }
  void act(const model::ObjectKey&, const core::EnsureAuxiliaries&) {}
  void act(const model::ObjectKey& name, const core::CreateMember& action) {
    const auto owner = jobs_.find(name);
    if (owner == jobs_.end()) return;
    PodBuilder made = pod("x").memberOf(*owner->second, action.role, action.index, action.epoch);
    if (action.pinned) {
      made.pinnedTo(action.pinned->str());
    } else {
      made.gated();
    }
    const model::Pod each = made;
    pods_.try_emplace(each.key, std::make_shared<const model::Pod>(each));
  }
  void act(const model::ObjectKey&, const core::ReleaseMember& action) {
    const auto found = pods_.find(action.pod);
    if (found == pods_.end()) return;
    edit(found->second, [&](model::Pod& p) {
      p.gated = false;
      p.gangGated = false;
      p.pinned = action.node;
    });
  }
  void act(const model::ObjectKey&, const core::DeletePod& action) { pods_.erase(action.pod); }
  // None of its jobs is elastic.
  void act(const model::ObjectKey&, const core::NotifyMember&) {}
  // No job here is a Gang of another controller.
  void act(const model::ObjectKey&, const core::GivePlace&) {}
  void act(const model::ObjectKey&, const core::SuspendOwner&) {}
  void act(const model::ObjectKey& name, const core::CollectEvidence&) {
    const auto classes = model::allFailureClasses();
    core::Failure failure;
    failure.failure = classes[rng_.below(classes.size())];
    change(name, [&](model::Job& job) { failures_[{name, job.status.gang.lastEpoch}] = failure; });
  }
  void act(const model::ObjectKey& name, const core::DeleteJob&) {
    change(name, [](model::Job& job) { job.deleting = true; });
  }

  static constexpr int kNodes = 6;
  static constexpr int kQueues = 5;
  // Sorted as in the caches; the last one does not exist.
  static constexpr const char* kClasses[] = {"a-low", "b-middle", "c-high", "d-unknown"};

  base::Rng rng_;
  std::int64_t now_ = 0;
  int jobsMade_ = 0;
  int foreignPods_ = 0;
  std::map<model::NodeName, std::shared_ptr<const model::Node>> nodes_;
  std::map<model::ObjectKey, std::shared_ptr<const model::Pod>> pods_;
  std::map<model::ObjectKey, std::shared_ptr<const model::Job>> jobs_;
  std::map<model::QueueName, std::shared_ptr<const model::Queue>> queues_;
  model::SharedList<model::PriorityClass> priorities_;
  model::Policy policy_;
  std::set<model::ObjectKey> busy_;
  std::map<std::pair<model::ObjectKey, std::int64_t>, core::Failure> failures_;  // by job and epoch
};

}  // namespace trainyard::test
