#include "core/elastic/resizes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "core/elastic/resizable_gangs.h"
#include "core/elastic/size_problem_builder.h"
#include "core/elastic/unmet_demand.h"
#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "core/search/joining_members.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = std::shared_ptr<const Job>;

bool fits(const SizeProblem& problem, const SizeProblem::Job& job, std::size_t server) {
  bool all = problem.pools[job.pool][server] != 0;
  for (std::size_t k = 0; k < kSizedKinds && all; ++k)
    all = problem.free[server * kSizedKinds + k] >= job.demand[k];
  return all;
}

bool fitsAnywhere(const SizeProblem& problem, const SizeProblem::Job& job) {
  for (std::size_t server = 0; server < problem.servers(); ++server) {
    if (fits(problem, job, server)) return true;
  }
  return false;
}

bool anyLowerFits(const SizeProblem& problem, const std::vector<int>& fair) {
  for (std::size_t i = 0; i < fair.size(); ++i) {
    const SizeProblem::Job& job = problem.jobs[i];
    if (job.present < fair[i] && fitsAnywhere(problem, job)) return true;
  }
  return false;
}

// Whether a gang can grow, or has an excess that its own curve may make it give up.
bool canChange(const SizeProblem& problem) {
  return std::any_of(problem.jobs.begin(), problem.jobs.end(), [&](const SizeProblem::Job& job) {
    return job.present > job.minimum || (job.most > job.present && fitsAnywhere(problem, job));
  });
}

class Resizes {
 public:
  explicit Resizes(const ResizeRequest& request)
      : in_(request), gangs_((request.refusals.follow(request.snapshot.nodes), findResizable(request))) {}

  ResizeAnswer run() {
    answer_.wakeAt = gangs_.wakeAt;
    if (!gangs_.missing.empty() && !gangs_.mayChange.empty()) giveBack();
    dropUnplaceable();
    if (gangs_.mayChange.empty()) return std::move(answer_);
    problem_ = SizeProblemBuilder(in_, gangs_, kept_).build(maxTouched());
    keepToFairSizes();
    if (!canChange(problem_)) return std::move(answer_);
    const SizeChoice choice = chooseSizes(problem_);
    for (std::size_t i = 0; i < gangs_.mayChange.size(); ++i) change(gangs_.mayChange[i], choice.sizes[i]);
    recordTerms(choice);
    return std::move(answer_);
  }

 private:
  // Desired sizes come before growth beyond them. A gang gives up its excess if a gang below its desired size
  // could use the nodes. No gang grows into such capacity.
  void giveBack() {
    const auto touched = static_cast<std::size_t>(maxTouched());
    UnmetDemand unmet({.snapshot = in_.snapshot,
                       .ledger = in_.ledger,
                       .domains = in_.domains,
                       .missing = gangs_.missing,
                       .surplus = gangs_.surplus,
                       .refusals = in_.refusals});
    std::erase_if(gangs_.mayChange, [&](const JobPtr& job) {
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
    const auto elastic = static_cast<std::int64_t>(gangs_.elastic);
    return std::max(1, static_cast<int>(elastic * in_.snapshot.policy.resize.touchedPermille / kPermille));
  }

  // In a full cluster without an excess, no further work is done. Otherwise each cycle would build each
  // gang's pool of nodes, only to find that nothing is free. With an excess, a gang that fits nowhere may be
  // one that the excess is shared with.
  void dropUnplaceable() {
    if (std::any_of(gangs_.mayChange.begin(), gangs_.mayChange.end(),
                    [](const JobPtr& job) { return elasticMembers(*job) > desiredMembers(*job); })) {
      return;
    }
    std::array<std::int64_t, kSizedKinds> most{};  // free on any one node, each kind by itself
    for (std::size_t node = 0; node < in_.ledger.nodes().size(); ++node) {
      if (!mayGrowOn(in_.ledger, node, kept_)) continue;
      const auto left = sizedAmounts(in_.ledger.nodes()[node].free);
      for (std::size_t k = 0; k < kSizedKinds; ++k) most[k] = std::max(most[k], left[k]);
    }
    std::erase_if(gangs_.mayChange, [&](const JobPtr& job) {
      const auto demand = sizedAmounts(elasticRoleOf(*job).shape.requests);
      for (std::size_t k = 0; k < kSizedKinds; ++k) {
        if (demand[k] > most[k]) return true;
      }
      return false;
    });
  }

  // While shares are farther from fair than the policy allows, no gang grows beyond its fair size. Otherwise
  // the present loss would permit the same loss in the opposite direction.
  void keepToFairSizes() {
    const std::vector<int> fair = fairSizes(problem_);
    std::vector<int> present;
    for (const SizeProblem::Job& each : problem_.jobs) present.push_back(each.present);
    const std::int64_t loss = fairnessLoss(problem_, fair, present);
    if (loss <= problem_.maxLoss) return;
    if (!anyLowerFits(problem_, fair)) shareOut(fair, loss - problem_.maxLoss);
    for (std::size_t i = 0; i < fair.size(); ++i) {
      SizeProblem::Job& job = problem_.jobs[i];
      job.most = std::clamp(job.most, job.present, std::max(job.present, fair[i]));
    }
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
      answer_.changes.push_back({.job = gangs_.mayChange[index],
                                 .kind = ChangeKind::kShrink,
                                 .remove = lastMembers(*gangs_.mayChange[index], gives)});
      // The gang takes no part in the other decisions of this cycle.
      job.worth = {job.worth[static_cast<std::size_t>(job.present - job.minimum)]};
      job.minimum = job.most = job.present;
    }
  }

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
        placeJoining(job, elasticRoleOf(job), more, policy.mixGpuTypes ? std::string() : policy.gpuTypeLabel,
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
      in_.ledger.take(*in_.ledger.find(each.node), elasticRoleOf(*job).shape.requests,
                      static_cast<int>(each.indices.size()), job.get());
    }
    answer_.changes.push_back({.job = job, .kind = ChangeKind::kGrow, .add = std::move(places)});
  }

  void recordTerms(const SizeChoice& choice) {
    SizeTerms terms;
    std::int64_t free = 0;
    std::int64_t all = 0;
    for (const Ledger::NodeCapacity& available : in_.ledger.nodes()) {
      if (!available.node->takesPods()) continue;
      free += std::max<std::int64_t>(available.freeGpus, 0);
      all += available.gpus;
    }
    terms.utilizationPermille = all > 0 ? base::scaled(all - free, kPermille, all) : 0;
    terms.fairnessLossPermille =
        choice.loss / (2 * static_cast<std::int64_t>(kSizedKinds) * kWhole / kPermille);
    terms.adjustments = static_cast<int>(answer_.changes.size());
    terms.boundPermille = choice.bound > 0 ? choice.value * kPermille / choice.bound : kPermille;
    answer_.terms = terms;
  }

  const ResizeRequest& in_;
  ResizableGangs gangs_;
  ResizeAnswer answer_;
  std::vector<char> kept_;  // nodes that gangs below their size could use, by ledger index; empty: none
  std::vector<model::NodeName> keptNames_;
  SizeProblem problem_;
};

}  // namespace

ResizeAnswer resizeGangs(const ResizeRequest& request) {
  ResizeAnswer answer = Resizes(request).run();
  // ResizableGangs::leftOut bounds this work, so it does not count against the budget of pending jobs.
  static_cast<void>(request.refusals.takeWork());
  return answer;
}

}  // namespace trainyard::core
