#include "core/elastic/resizes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/saturating.h"
#include "core/admission/admission.h"
#include "core/elastic/long_constraints.h"
#include "core/elastic/unmet_demand.h"
#include "core/gang/gang_proposals.h"
#include "core/order/job_times.h"
#include "core/order/preemption_cost.h"
#include "core/place/joining_members.h"
#include "core/place/work_budget.h"
#include "core/planner.h"
#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "model/charge.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = std::shared_ptr<const Job>;

constexpr std::int64_t kPermille = 1'000;
constexpr std::int64_t kWhole = 1'000'000'000;
// Sums of thousands of such values do not overflow.
constexpr double kMaxWorth = 1e14;
constexpr std::size_t kKinds = 3;  // GPUs, cpu, memory
// The number of sizes beyond its present one that are considered for one gang.
constexpr int kMaxSizes = 512;

std::array<std::int64_t, kKinds> amountsOf(const model::Resources& amount) {
  return {amount.gpus(), amount.cpu.value, amount.memory.value};
}

class Resizes {
 public:
  explicit Resizes(const ResizeRequest& request) : in_(request) { in_.refusals.follow(in_.snapshot.nodes); }

  ResizeAnswer run() {
    std::vector<JobPtr> elastic;
    for (const JobPtr& job : in_.gangs) {
      if (job->spec.elastic && resizable(*job) && !in_.takesPart(*job)) elastic.push_back(job);
    }
    elastic_ = static_cast<std::int64_t>(elastic.size());
    dropLongConstraints(elastic);
    for (const JobPtr& job : elastic) {
      if (elasticMembers(*job) < desiredMembers(*job) && mayHaveMore(*job) && !backsOff(*job) &&
          !isLeftOut(*job))
        missing_.push_back(job);
      if (elasticMembers(*job) > desiredMembers(*job) && everChanges(*job)) surplus_.push_back(job);
      if (mayChange(*job)) gangs_.push_back(job);
    }
    if (!missing_.empty() && !gangs_.empty()) giveBack();
    dropUnplaceable();
    if (gangs_.empty()) return std::move(answer_);
    describe();
    if (canChange()) {
      const SizeChoice choice = chooseSizes(problem_);
      for (std::size_t i = 0; i < gangs_.size(); ++i) change(gangs_[i], choice.sizes[i]);
      recordTerms(choice);
    }
    return std::move(answer_);
  }

 private:
  [[nodiscard]] const model::Role& roleOf(const Job& job) const {
    return *job.spec.findRole(job.spec.elastic->role);
  }

  // Other gangs give up members only for a gang that its queue allows to grow.
  [[nodiscard]] bool mayHaveMore(const Job& job) const {
    const QueueTree& queues = in_.queues;
    return model::sameCharge(job, queues.requestedQueueOf(job)) &&
           !beyondLimit(queues, queues.queueOf(job), heldBy(queues.capacity(), job, lastMembers(job, 1)));
  }

  [[nodiscard]] bool backsOff(const Job& job) const {
    return backsOffUntil(job.status.gang, in_.snapshot.now).has_value();
  }

  [[nodiscard]] bool everChanges(const Job& job) const {
    const int has = elasticMembers(job);
    const int wish = desiredMembers(job);
    // core/elastic/user_scale.h handles growth up to the desired size.
    if (has < wish || (has == wish && job.spec.elastic->maxReplicas <= wish)) return false;
    // The present spec has not been admitted; core/elastic/user_scale.h reports that.
    if (!mayGetNewPods(job, in_.snapshot, in_.queues)) return false;
    // Giving members back later would cost the gang all its work.
    return resizeMethod(job.spec) != ResizeMethod::kByRestart || isCheckpointable(job.spec);
  }

  bool mayChange(const Job& job) {
    if (!everChanges(job)) return false;
    const auto rests = [&](base::WallTime until) {
      if (until <= in_.snapshot.now) return false;
      answer_.wakeAt = answer_.wakeAt ? std::min(*answer_.wakeAt, until) : until;
      return true;
    };
    if (rests(placedSince(job, in_.snapshot.now) + in_.snapshot.policy.resize.interval)) return false;
    const auto& cooldown = job.status.resize.cooldownUntil;
    const auto backoff = backsOffUntil(job.status.gang, in_.snapshot.now);
    return !(cooldown && rests(*cooldown)) && !(backoff && rests(*backoff));
  }

  // Desired sizes come before growth beyond them. A gang gives up its excess if a gang below its desired size
  // could use the nodes. No gang grows into such capacity.
  void giveBack() {
    const auto touched = static_cast<std::size_t>(maxTouched());
    UnmetDemand unmet({in_.snapshot, in_.ledger, in_.domains, missing_, surplus_, in_.refusals});
    std::erase_if(gangs_, [&](const JobPtr& job) {
      const int surplus = elasticMembers(*job) - desiredMembers(*job);
      if (surplus <= 0 || !unmet.couldUseAny(lastMembers(*job, surplus))) return false;
      const int gives = answer_.changes.size() < touched ? unmet.take(*job, surplus) : 0;
      if (gives > 0) {
        answer_.changes.push_back(
            {.job = job, .kind = ChangeKind::kShrink, .remove = lastMembers(*job, gives)});
      }
      return true;
    });
    kept_ = unmet.nodes();
    for (std::size_t node = 0; node < kept_.size(); ++node) {
      if (kept_[node] != 0) keptNames_.push_back(in_.ledger.nodes()[node].node->name);
    }
  }

  [[nodiscard]] int maxTouched() const {
    return std::max(1, static_cast<int>(elastic_ * in_.snapshot.policy.resize.touchedPermille / kPermille));
  }

  // In a full cluster without an excess, no further work is done. Otherwise each cycle would build each
  // gang's pool of nodes, only to find that nothing is free. With an excess, a gang that fits nowhere may be
  // one that the excess is shared with.
  void dropUnplaceable() {
    if (std::any_of(gangs_.begin(), gangs_.end(),
                    [](const JobPtr& job) { return elasticMembers(*job) > desiredMembers(*job); })) {
      return;
    }
    std::array<std::int64_t, kKinds> most{};  // free on any one node, each kind by itself
    for (std::size_t node = 0; node < in_.ledger.nodes().size(); ++node) {
      if (!mayGrowOn(node)) continue;
      const auto left = amountsOf(in_.ledger.nodes()[node].free);
      for (std::size_t k = 0; k < kKinds; ++k) most[k] = std::max(most[k], left[k]);
    }
    std::erase_if(gangs_, [&](const JobPtr& job) {
      const auto demand = amountsOf(roleOf(*job).shape.requests);
      for (std::size_t k = 0; k < kKinds; ++k) {
        if (demand[k] > most[k]) return true;
      }
      return false;
    });
  }

  [[nodiscard]] bool mayGrowOn(std::size_t node) const {
    return isOpen(*in_.ledger.nodes()[node].node) && (kept_.empty() || kept_[node] == 0);
  }

  // --- step 1

  void describe() {
    problem_.kinds = kKinds;
    problem_.capacity.assign(kKinds, 0);
    for (std::size_t node = 0; node < in_.ledger.nodes().size(); ++node) {
      const Ledger::NodeCapacity& available = in_.ledger.nodes()[node];
      const auto all = amountsOf(available.node->allocatable);
      const auto left = amountsOf(available.free);
      for (std::size_t k = 0; k < kKinds; ++k) {
        problem_.free.push_back(mayGrowOn(node) ? std::max<std::int64_t>(left[k], 0) : 0);
        problem_.capacity[k] += isOpen(*available.node) ? all[k] : 0;
      }
    }
    for (const JobPtr& job : gangs_) problem_.jobs.push_back(describe(*job));
    const model::ResizePolicy& policy = in_.snapshot.policy.resize;
    problem_.maxLoss =
        2 * static_cast<std::int64_t>(kKinds) * kWhole / kPermille * policy.fairnessLossPermille;
    problem_.maxTouched = maxTouched();
    keepToFairSizes();
  }

  // Queues share by weight; the gangs of a queue share equally.
  void weigh() {
    constexpr std::int64_t kParts = 840;  // divides evenly by all counts up to 8
    std::map<QueueTree::Index, std::int64_t> gangs;
    for (const JobPtr& job : gangs_) ++gangs[in_.queues.queueOf(*job)];
    for (std::size_t i = 0; i < gangs_.size(); ++i) {
      const QueueTree::Index queue = in_.queues.queueOf(*gangs_[i]);
      problem_.jobs[i].weight =
          std::max<std::int64_t>(1, in_.queues.node(queue).weight * kParts / gangs[queue]);
    }
  }

  // While shares are farther from fair than the policy allows, no gang grows beyond its fair size. Otherwise
  // the present loss would permit the same loss in the opposite direction.
  void keepToFairSizes() {
    weigh();
    const std::vector<int> fair = fairSizes(problem_);
    std::vector<int> present;
    for (const SizeProblem::Job& each : problem_.jobs) present.push_back(each.present);
    const std::int64_t loss = fairnessLoss(problem_, fair, present);
    if (loss <= problem_.maxLoss) return;
    if (!anyLowerFits(fair)) shareOut(fair, loss - problem_.maxLoss);
    for (std::size_t i = 0; i < fair.size(); ++i) {
      SizeProblem::Job& job = problem_.jobs[i];
      job.most = std::clamp(job.most, job.present, std::max(job.present, fair[i]));
    }
  }

  [[nodiscard]] bool fits(const SizeProblem::Job& job, std::size_t server) const {
    bool all = problem_.pools[job.pool][server] != 0;
    for (std::size_t k = 0; k < kKinds && all; ++k) all = problem_.free[server * kKinds + k] >= job.demand[k];
    return all;
  }

  [[nodiscard]] bool fitsAnywhere(const SizeProblem::Job& job) const {
    for (std::size_t server = 0; server < problem_.servers(); ++server) {
      if (fits(job, server)) return true;
    }
    return false;
  }

  [[nodiscard]] bool anyLowerFits(const std::vector<int>& fair) const {
    for (std::size_t i = 0; i < fair.size(); ++i) {
      const SizeProblem::Job& job = problem_.jobs[i];
      if (job.present < fair[i] && fitsAnywhere(job)) return true;
    }
    return false;
  }

  // Theta 1 bounds the present loss, too. The gangs with the largest excess over their fair size give what
  // others lack, until the loss is `beyond` less once the others have it. Each member that changes hands
  // reduces the loss on both sides by its share.
  void shareOut(const std::vector<int>& fair, std::int64_t beyond) {
    std::int64_t toRelease = 0;
    std::vector<char> usable(problem_.servers(), 0);
    std::vector<std::pair<std::int64_t, std::size_t>> shrinking;
    for (std::size_t i = 0; i < fair.size(); ++i) {
      const SizeProblem::Job& job = problem_.jobs[i];
      const std::int64_t excess = dominantShare(problem_, job) * (job.present - fair[i]);
      if (excess > 0) shrinking.emplace_back(-excess, i);
      if (excess >= 0) continue;
      toRelease -= excess;
      for (std::size_t server = 0; server < usable.size(); ++server)
        usable[server] = static_cast<char>(usable[server] | problem_.pools[job.pool][server]);
    }
    toRelease = std::min(toRelease, (beyond + 1) / 2);
    std::sort(shrinking.begin(), shrinking.end());
    for (const auto& [excess, index] : shrinking) {
      if (toRelease <= 0 || answer_.changes.size() >= static_cast<std::size_t>(maxTouched())) return;
      SizeProblem::Job& job = problem_.jobs[index];
      const std::int64_t share = std::max<std::int64_t>(dominantShare(problem_, job), 1);
      const auto wanted =
          static_cast<int>(std::min<std::int64_t>((toRelease + share - 1) / share, job.present));
      const int gives = std::min({wanted, job.present - fair[index], job.present - job.minimum});
      if (gives <= 0 || usable[job.places.back()] == 0) continue;
      toRelease -= share * gives;
      answer_.changes.push_back(
          {.job = gangs_[index], .kind = ChangeKind::kShrink, .remove = lastMembers(*gangs_[index], gives)});
      // The gang takes no part in the other decisions of this cycle.
      job.worth = {job.worth[static_cast<std::size_t>(job.present - job.minimum)]};
      job.minimum = job.most = job.present;
    }
  }

  SizeProblem::Job describe(const Job& job) {
    const model::Role& role = roleOf(job);
    SizeProblem::Job described;
    const auto demand = amountsOf(role.shape.requests);
    described.demand.assign(demand.begin(), demand.end());
    described.present = elasticMembers(job);
    described.minimum = std::min(desiredMembers(job), described.present);
    described.most =
        std::min({std::max(job.spec.elastic->maxReplicas, described.present), described.present + kMaxSizes});
    for (int i = 0; i < described.present; ++i) described.places.push_back(0);
    for (const model::Assignment& each : job.status.gang.placed->assignments) {
      if (each.role != role.name) continue;
      const auto node = in_.ledger.find(each.node);
      for (const int index : each.indices.values()) {
        if (index < described.present && node)
          described.places[static_cast<std::size_t>(index)] = static_cast<std::uint32_t>(*node);
      }
    }
    const bool out = isLeftOut(job);
    if (out) described.most = described.present;
    const auto [pool, isNew] = pools_.try_emplace(out ? std::string() : poolKey(job),
                                                  static_cast<std::uint32_t>(problem_.pools.size()));
    if (isNew) {
      problem_.pools.push_back(out ? std::vector<char>(in_.ledger.nodes().size(), 0) : poolOf(role));
      membersOnANode_.push_back(membersOnANode(role));
    }
    described.pool = pool->second;
    value(job, described);
    return described;
  }

  [[nodiscard]] std::string poolKey(const Job& job) const {
    return job.spec.templateHash + "/" + roleOf(job).name;
  }

  void dropLongConstraints(const std::vector<JobPtr>& elastic) {
    std::set<std::pair<std::string, std::string>> seen;
    std::vector<ComparedTemplate> templates;
    for (const JobPtr& job : elastic) {
      const std::int64_t cost = lookCost(roleOf(*job).shape);
      if (cost > 0 && seen.emplace(job->key.ns, poolKey(*job)).second)
        templates.push_back({job->key.ns, poolKey(*job), cost});
    }
    if (!templates.empty()) leftOut_ = leftOut(std::move(templates), in_.ledger.nodes().size());
  }

  [[nodiscard]] bool isLeftOut(const Job& job) const {
    return !leftOut_.empty() && leftOut_.contains(poolKey(job));
  }

  [[nodiscard]] std::vector<char> poolOf(const model::Role& role) {
    NodeRefusals::Answers& known = in_.refusals.of(role.shape);
    std::vector<char> pool;
    for (std::size_t i = 0; i < in_.ledger.nodes().size(); ++i)
      pool.push_back(known.mayUse(i, *in_.ledger.nodes()[i].node, role.shape) ? 1 : 0);
    return pool;
  }

  void value(const Job& job, SizeProblem::Job& described) const {
    double member = 0;
    for (std::size_t k = 0; k < kKinds; ++k) {
      if (problem_.capacity[k] > 0)
        member += static_cast<double>(described.demand[k]) / static_cast<double>(problem_.capacity[k]);
    }
    const auto gpus = static_cast<int>(roleOf(job).shape.requests.gpus());
    const int perNode = membersOnANode_[described.pool];
    const SpeedCurve curve(job.status.resize.speeds, declared(job, perNode), {gpus, perNode},
                           in_.snapshot.policy.shapeCosts);
    if (curve.known())
      described.most = std::max(
          std::min(described.most, 2 * std::max(curve.largestKnown(), described.present)), described.present);
    for (int size = described.minimum; size <= described.most; ++size) {
      const double speed = curve.known() ? curve.speedUp(size) : size;
      described.worth.push_back(
          base::saturatingRound(std::min(speed * member * static_cast<double>(kWhole), kMaxWorth)));
    }
    const std::int64_t present =
        described.worth[static_cast<std::size_t>(described.present - described.minimum)];
    const auto pause = std::chrono::duration<double>(resizePause(job, in_.snapshot)).count();
    const double horizon = std::max(std::chrono::duration<double>(horizonOf(job)).count(), 1.0);
    const double gain = in_.snapshot.policy.resize.gainPermille / static_cast<double>(kPermille);
    constexpr double kMaxCost = 1e12;
    described.cost =
        base::saturatingRound(std::min(static_cast<double>(present) * pause / horizon * gain, kMaxCost));
  }

  // Returns what the owner declares. Otherwise returns what the profile predicts, until as many sizes have
  // been measured as the curve has parameters.
  [[nodiscard]] std::vector<model::SpeedPoint> declared(const Job& job, int perNode) const {
    constexpr std::size_t kEnough = 3;
    if (!job.spec.elastic->speeds.empty() || job.status.resize.speeds.size() >= kEnough)
      return job.spec.elastic->speeds;
    return predictedSpeeds(job, job.spec.elastic->maxReplicas, perNode, in_.ledger, in_.snapshot.policy,
                           in_.fits);
  }

  [[nodiscard]] int membersOnANode(const model::Role& role) const {
    const model::Resources& each = role.shape.requests;
    constexpr std::int64_t kMax = 1'000;
    std::int64_t most = 1;
    for (const Ledger::NodeCapacity& available : in_.ledger.nodes())
      most = std::max(most, available.node->allocatable.timesCovered(each, kMax));
    return static_cast<int>(most);
  }

  [[nodiscard]] base::WallTime::duration horizonOf(const Job& job) const {
    const base::WallTime::duration cooldown = cooldownOf(job, in_.snapshot.policy);
    const auto left = estimatedRemaining(job, in_.snapshot.now);
    return left ? std::min<base::WallTime::duration>(cooldown, *left) : cooldown;
  }

  // Returns true if a gang can grow, or has an excess that its own curve may make it give up.
  [[nodiscard]] bool canChange() const {
    for (const SizeProblem::Job& job : problem_.jobs) {
      if (job.present > job.minimum || (job.most > job.present && fitsAnywhere(job))) return true;
    }
    return false;
  }

  // --- steps 2 and 3

  void change(const JobPtr& job, int size) {
    const int has = elasticMembers(*job);
    if (size < has) {
      answer_.changes.push_back(
          {.job = job, .kind = ChangeKind::kShrink, .remove = lastMembers(*job, has - size)});
    }
    for (int more = size - has; more > 0; more /= 2) {
      if (auto places = placementFor(*job, more)) return grow(job, std::move(*places));
    }
  }

  std::optional<Placement> placementFor(const Job& job, int more) {
    const model::Policy& policy = in_.snapshot.policy;
    auto places =
        placeJoining(job, roleOf(job), more, policy.mixGpuTypes ? std::string() : policy.gpuTypeLabel,
                     in_.ledger, in_.domains, in_.refusals, keptNames_);
    if (!places || in_.wanted(job, places->assignments)) return std::nullopt;
    const QueueTree::Index queue = in_.queues.queueOf(job);
    const Amounts held = heldBy(in_.queues.capacity(), job, places->assignments);
    return exceededQuota(in_.queues, queue, held, true) ? std::nullopt : std::move(places);
  }

  void grow(const JobPtr& job, Placement places) {
    in_.queues.charge(in_.queues.queueOf(*job), heldBy(in_.queues.capacity(), *job, places.assignments),
                      false);
    for (const model::Assignment& each : places.assignments) {
      in_.ledger.take(*in_.ledger.find(each.node), roleOf(*job).shape.requests,
                      static_cast<int>(each.indices.size()), job.get());
    }
    answer_.changes.push_back({.job = job, .kind = ChangeKind::kGrow, .add = std::move(places)});
  }

  void recordTerms(const SizeChoice& choice) {
    SizeTerms terms;
    std::int64_t free = 0;
    std::int64_t all = 0;
    for (const Ledger::NodeCapacity& available : in_.ledger.nodes()) {
      if (!isOpen(*available.node)) continue;
      free += std::max<std::int64_t>(available.freeGpus, 0);
      all += available.gpus;
    }
    terms.utilizationPermille = all > 0 ? (all - free) * kPermille / all : 0;
    terms.fairnessLossPermille = choice.loss / (2 * static_cast<std::int64_t>(kKinds) * kWhole / kPermille);
    terms.adjustments = static_cast<int>(answer_.changes.size());
    terms.boundPermille = choice.bound > 0 ? choice.value * kPermille / choice.bound : kPermille;
    answer_.terms = terms;
  }

  const ResizeRequest& in_;
  ResizeAnswer answer_;
  std::vector<JobPtr> gangs_;
  std::vector<JobPtr> missing_;  // below their desired size
  std::vector<JobPtr> surplus_;  // above it; others may be given the excess now or later
  std::vector<char> kept_;       // nodes that gangs in missing_ could use, by ledger index; empty: none
  std::vector<model::NodeName> keptNames_;
  std::int64_t elastic_ = 0;
  SizeProblem problem_;
  std::set<std::string> leftOut_;               // poolKey() of gangs that must not grow: no node is compared
  std::map<std::string, std::uint32_t> pools_;  // of problem_, by poolKey(); key empty for those left out
  std::vector<int> membersOnANode_;             // at most, by pool
};

}  // namespace

ResizeAnswer resizeGangs(const ResizeRequest& request) {
  ResizeAnswer answer = Resizes(request).run();
  // leftOut_ bounds this work, so it does not count against the budget of pending jobs.
  static_cast<void>(request.refusals.takeWork());
  return answer;
}

}  // namespace trainyard::core
