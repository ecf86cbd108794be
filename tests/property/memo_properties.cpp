#include <map>
#include <set>

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "core/cycle.h"
#include "core/ledger.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr int kNodes = 6;
constexpr int kSteps = 40;

// A cluster that lives on: what plans ask for is done, late or not at all, and everything else happens as
// well. Objects that do not change keep their pointers, as in the caches.
class LivingCluster {
 public:
  explicit LivingCluster(std::uint64_t seed) : rng_(seed) {
    for (int i = 0; i < kNodes; ++i) putNode(i);
  }

  CycleInput look() {
    CycleInput input;
    input.snapshot.now = at(now_);
    for (const auto& [name, each] : nodes_) input.snapshot.nodes.push_back(each);
    for (const auto& [name, each] : pods_) input.snapshot.pods.push_back(each);
    for (const auto& [name, each] : jobs_) {
      input.snapshot.jobs.push_back(each);
      JobFeedback feedback;
      feedback.busy = busy_.contains(name);
      feedback.auxiliariesReady = true;
      feedback.templateError = "";
      input.feedback.emplace(name, feedback);
    }
    busy_.clear();
    return input;
  }

  void carryOut(const Plan& plan) {
    for (const JobDecision& decision : plan.decisions) {
      const model::ObjectKey& name = decision.job->key;
      if (rng_.chance(1, 5)) {
        if (rng_.chance(1, 2)) busy_.insert(name);
        continue;
      }
      if (decision.status) {
        change(name, [&](model::Job& job) { job.status = *decision.status; });
      }
      for (const Action& action : decision.actions) {
        std::visit([&](const auto& each) { act(name, each); }, action);
      }
    }
    for (const DeletePod& orphan : plan.orphans) pods_.erase(orphan.pod);
  }

  void live() {
    now_ += rng_.between(0, 15);
    for (auto& [name, pod] : pods_) {
      if (pod->pinned && !pod->gated && !pod->bound() && rng_.chance(2, 3)) {
        edit(pod, [](model::Pod& p) { p.node = *p.pinned; });
      } else if (pod->bound() && pod->phase == model::PodPhase::kPending && rng_.chance(1, 2)) {
        edit(pod, [](model::Pod& p) { p.phase = model::PodPhase::kRunning; });
      }
    }
    switch (rng_.below(14)) {
      case 0:
      case 1:
      case 2:
      case 3: return submit();
      case 4: return endSomePod();
      case 5: return losePod();
      case 6: return changeNode();
      case 7: return suspendOrResume();
      case 8: return removeJob();
      case 9: return stranger();
      case 10: return pretender();
      case 11: return addVictim();
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
    NodeBuilder made = node(fmt::format("n{}", i)).gpus(4).zone("z").rack(fmt::format("r{}", rng_.below(3)));
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
    whole->spec.restartScope = rng_.chance(1, 2) ? model::RestartScope::kGang : model::RestartScope::kPod;
    whole->spec.run.cleanPodPolicy =
        rng_.chance(1, 2) ? model::CleanPodPolicy::kRunning : model::CleanPodPolicy::kAll;
    whole->hasReleaseFinalizer = true;
    jobs_[whole->key] = std::move(whole);
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

  void stranger() {
    const model::Pod each =
        pod(fmt::format("other/p{}", strangers_++)).on(fmt::format("n{}", rng_.below(kNodes))).gpus(1);
    pods_[each.key] = std::make_shared<const model::Pod>(each);
  }

  // Names a job's uid as its owner, in the job's namespace or in another.
  void pretender() {
    const auto owner = some(jobs_);
    if (owner == jobs_.end()) return;
    model::Pod each =
        pod("x").memberOf(*owner->second, "worker", static_cast<int>(rng_.below(4)), rng_.between(0, 2));
    each.key = {rng_.chance(1, 2) ? "ml" : "other", fmt::format("{}-like-{}", each.key.name, strangers_++)};
    each.pinned = model::NodeName(fmt::format("n{}", rng_.below(kNodes)));
    each.gated = rng_.chance(1, 3);
    if (rng_.chance(1, 3)) each.node = *each.pinned;
    pods_[each.key] = std::make_shared<const model::Pod>(each);
  }

  void addVictim() {
    const auto claimant = some(jobs_);
    const auto victim = some(pods_);
    if (claimant == jobs_.end() || victim == pods_.end() || !claimant->second->status.gang.proposal) return;
    edit(claimant->second, [&](model::Job& job) {
      const model::Pod& each = *victim->second;
      job.status.gang.proposal->victims.push_back({each.key, each.uid, each.node});
    });
  }

  void act(const model::ObjectKey&, const CheckTemplates&) {}
  void act(const model::ObjectKey& name, const AddFinalizer&) {
    change(name, [](model::Job& job) { job.hasReleaseFinalizer = true; });
  }
  void act(const model::ObjectKey& name, const RemoveFinalizer&) { jobs_.erase(name); }
  void act(const model::ObjectKey&, const EnsureAuxiliaries&) {}
  void act(const model::ObjectKey& name, const CreateMember& action) {
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
  void act(const model::ObjectKey&, const ReleaseMember& action) {
    const auto found = pods_.find(action.pod);
    if (found == pods_.end()) return;
    edit(found->second, [&](model::Pod& p) {
      p.gated = false;
      p.gangGated = false;
      p.pinned = action.node;
    });
  }
  void act(const model::ObjectKey&, const DeletePod& action) { pods_.erase(action.pod); }

  base::Rng rng_;
  std::int64_t now_ = 0;
  int jobsMade_ = 0;
  int strangers_ = 0;
  std::map<model::NodeName, std::shared_ptr<const model::Node>> nodes_;
  std::map<model::ObjectKey, std::shared_ptr<const model::Pod>> pods_;
  std::map<model::ObjectKey, std::shared_ptr<const model::Job>> jobs_;
  std::set<model::ObjectKey> busy_;
};

// Everything that a ledger says, in its order.
std::string wordsOf(const Ledger& ledger) {
  std::string text;
  for (std::size_t i = 0; i < ledger.nodes().size(); ++i) {
    const Ledger::NodeRoom& room = ledger.nodes()[i];
    text += fmt::format("{} free {} gpus {} pods:", room.node->name, room.free.gpus(), room.free.pods);
    ledger.forEachHolding(i, [&](const Ledger::Holding& holding) {
      text += fmt::format(" {}/{}={}", holding.job ? holding.job->key.name : "-",
                          holding.pod ? holding.pod->key.name : "places", holding.amount.gpus());
    });
    text += '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("a ledger that follows is the ledger of the snapshot") {
  rc::prop("step by step, whatever was taken from it meanwhile", [](std::uint64_t seed) {
    LivingCluster cluster(seed);
    Ledger followed;
    for (int step = 0; step < kSteps; ++step) {
      const CycleInput input = cluster.look();
      followed.follow(input.snapshot);
      RC_ASSERT(wordsOf(followed) == wordsOf(Ledger(input.snapshot)));
      if (step % 3 == 0 && !input.snapshot.nodes.empty()) followed.take(0, gpus(1), 2);
      cluster.carryOut(cycle(input));
      cluster.live();
    }
  });
}

TEST_CASE("what a cycle remembers of the last one changes no plan") {
  rc::prop("a warm memo and an empty one give the same plan, step by step", [](std::uint64_t seed) {
    LivingCluster cluster(seed);
    Memo memo;
    for (int step = 0; step < kSteps; ++step) {
      const CycleInput input = cluster.look();
      const Plan warm = cycle(input, memo);
      RC_ASSERT(warm == cycle(input));
      cluster.carryOut(warm);
      cluster.live();
    }
  });
}
