#include "core/elastic/user_scale.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/admission/admission.h"
#include "core/gang.h"
#include "core/ledger.h"
#include "core/place.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "core/search.h"
#include "model/charge.h"
#include "model/gang_size.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = std::shared_ptr<const Job>;

// Placements are searched until so many nodes have been compared (core/place/work_budget.h). The next cycle
// begins with the first gang that this one did not reach.
constexpr std::int64_t kMaxWork = 300'000;
constexpr std::chrono::seconds kNextWork{1};

// Why members do not get nodes that are free: at most one of these. Neither if there are no such nodes.
struct Obstacle {
  std::optional<model::ObjectKey> holder = std::nullopt;  // the pending job that the nodes are reserved for
  std::optional<std::string> limitedQueue = std::nullopt;
};

struct Attempt {
  std::optional<Placement> placement = std::nullopt;
  Obstacle obstacle = {};  // if there is no placement
};

// Members that a gang is to get.
struct Wish {
  JobPtr job;
  const model::Role* role;
  int has = 0;
  int more = 0;
};

struct Growth {
  int count = 0;
  std::optional<Placement> placement = std::nullopt;
  Obstacle obstacle = {};  // to the smallest growth that was tried in vain
};

class UserScale {
 public:
  explicit UserScale(const ScaleRequest& request) : request_(request), priorities_(request.snapshot) {
    request_.refusals.follow(request_.snapshot.nodes);
    static_cast<void>(request_.refusals.takeWork());  // the work of other phases
  }

  ScaleAnswer run() {
    std::vector<Wish> growing;
    for (const JobPtr& job : request_.gangs) {
      for (const Wish& wish : wishesOf(job)) {
        if (wish.more > 0) growing.push_back(wish);
        if (wish.more < 0 && rested(*job)) shrink(job, wish.has + wish.more);
      }
    }
    sortByRequest(growing);
    const auto from = std::find_if(growing.begin(), growing.end(),
                                   [&](const Wish& wish) { return wish.job->key == request_.unreached; });
    request_.unreached.reset();
    if (from != growing.end()) std::rotate(growing.begin(), from, growing.end());
    for (const Wish& wish : growing) {
      if (budget_.exhausted()) {
        if (request_.unreached) break;
        request_.unreached = wish.job->key;
        wakeAt(request_.snapshot.now + kNextWork);
      } else if (!grown_.contains(wish.job->key) && rested(*wish.job)) {
        grow(wish);
      }
    }
    return std::move(answer_);
  }

 private:
  // A Gang grows by the pods that have arrived, one role at a time: the first one for which there is room.
  [[nodiscard]] std::vector<Wish> wishesOf(const JobPtr& job) const {
    std::vector<Wish> wishes;
    if (job->owner != nullptr) {
      const PodGroups& pods = request_.ledger.pods();
      for (const Surplus& each : surplusOf(*job, pods.of(*job), pods.arrivals(job->key)))
        wishes.push_back({job, each.role, each.places, each.pods});
      return wishes;
    }
    const model::Role& role = *job->spec.findRole(job->spec.elastic->role);
    const int has = model::gangMembers(*job, role);
    wishes.push_back({job, &role, has, requestedSize(*job).value_or(0) - has});
    return wishes;
  }

  // The smallest desired share comes first, so that most gangs get their desired size.
  void sortByRequest(std::vector<Wish>& growing) const {
    if (growing.size() < 2) return;
    using GrowthOrder = std::tuple<bool, std::int64_t, base::WallTime>;
    std::vector<std::pair<GrowthOrder, Wish>> ordered;
    for (const Wish& wish : growing)
      ordered.push_back({{!hasNewRequest(*wish.job), desiredShare(*wish.job), wish.job->created}, wish});
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(ordered.begin(), ordered.end(), growing.begin(),
                   [](const auto& each) { return each.second; });
    sortByPriority(growing);
  }

  // Priorities are compared within a queue: its gangs swap turns only with each other.
  void sortByPriority(std::vector<Wish>& growing) const {
    struct Turns {
      std::vector<std::size_t> at;
      std::vector<std::pair<int, Wish>> gangs;
    };
    std::map<QueueTree::Index, Turns> queues;
    for (std::size_t i = 0; i < growing.size(); ++i) {
      Turns& turns = queues[request_.queues.queueOf(*growing[i].job)];
      turns.at.push_back(i);
      turns.gangs.emplace_back(priorities_.of(*growing[i].job), growing[i]);
    }
    for (auto& [queue, turns] : queues) {
      std::stable_sort(turns.gangs.begin(), turns.gangs.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      for (std::size_t i = 0; i < turns.at.size(); ++i) growing[turns.at[i]] = turns.gangs[i].second;
    }
  }

  // Returns the dominant share of the whole gang at its desired size, in 10^-9 of the cluster.
  [[nodiscard]] std::int64_t desiredShare(const Job& job) const {
    constexpr double kShareUnits = 1e9;
    Job wish = job;
    wish.status.gang = {};
    const QueueTree& tree = request_.queues;
    const Amounts demand = demandOf(tree.capacity(), wish);
    double share = 0;
    for (std::size_t d = 0; d < demand.size(); ++d) {
      if (!tree.dimensions().counts(d) || tree.capacity().available()[d] <= 0) continue;
      share = std::max(share, static_cast<double>(demand[d]) * kShareUnits /
                                  static_cast<double>(tree.capacity().available()[d]));
    }
    return static_cast<std::int64_t>(share);
  }

  // Returns false during the back-off after a failed attempt. Also false in the cooldown after a gang gave up
  // capacity, unless its user asks again: the preemptor may return.
  bool rested(const Job& job) {
    const auto rests = [&](const std::optional<base::WallTime>& until) {
      if (!until || request_.snapshot.now >= *until) return false;
      wakeAt(*until);
      return true;
    };
    if (rests(backsOffUntil(job.status.gang, request_.snapshot.now))) return false;
    const model::ResizeStatus& resize = job.status.resize;
    const bool shrankForOther = resize.decidedBy == model::SizeOwner::kPreemption && !hasNewRequest(job);
    return !shrankForOther || !rests(resize.cooldownUntil);
  }

  static bool hasNewRequest(const Job& job) { return job.generation != job.status.observedGeneration; }

  void wakeAt(base::WallTime time) {
    answer_.wakeAt = answer_.wakeAt ? std::min(*answer_.wakeAt, time) : time;
  }

  void shrink(const JobPtr& job, int to) {
    // A shrink that restarts all members needs new pods, like a growth.
    if (resizeMethod(job->spec) == ResizeMethod::kByRestart &&
        !mayGetNewPods(*job, request_.snapshot, request_.queues)) {
      return hold(*job, fmt::format("{} are requested, it has {}: it was edited after it was placed, and "
                                    "shrinks when it has been admitted again",
                                    to, elasticMembers(*job)));
    }
    answer_.changes.push_back(
        {.job = job, .kind = ChangeKind::kShrink, .remove = lastMembers(*job, elasticMembers(*job) - to)});
  }

  void grow(const Wish& wish) {
    const JobPtr& job = wish.job;
    const int more = wish.more;
    // A Gang has several roles that grow.
    const std::string role = job->owner != nullptr ? fmt::format(" of role {}", wish.role->name) : "";
    const auto wants = [&] {
      return fmt::format("{}{} are requested, it has {}", wish.has + more, role, wish.has);
    };
    if (!mayGetNewPods(*job, request_.snapshot, request_.queues))
      return hold(*job,
                  wants() + ": it was edited after it was placed, and grows when it has been admitted again");
    const bool pauses = job->owner == nullptr && resizeMethod(job->spec) == ResizeMethod::kByRestart;
    const bool whole = pauses && hasNewRequest(*job);
    Growth growth = whole ? tried(wish, more) : mostThatFit(wish, more);
    if (pauses && growth.count < more && !worthPausing(*job, growth.count, request_.snapshot)) {
      growth.count = 0;
      growth.placement.reset();
    }
    const auto& [holder, limitedQueue] = growth.obstacle;
    if (growth.count == 0 && holder)
      return hold(
          *job, fmt::format("{}: the free capacity is reserved for {}, which is pending", wants(), *holder));
    if (growth.count < more) {
      hold(*job,
           fmt::format("{}: {} can start now{}", wants(),
                       growth.count == 0 ? std::string("no more") : fmt::format("{} more", growth.count),
                       limitedQueue ? fmt::format("; queue {} is at its limit", *limitedQueue) : ""));
    }
    if (growth.placement) take(wish, std::move(*growth.placement));
  }

  // Of several roles that are held, the first counts.
  void hold(const Job& job, std::string why) { answer_.held.try_emplace(job.key, std::move(why)); }

  Growth tried(const Wish& wish, int more) {
    Attempt attempt = placementFor(wish, more);
    const int count = attempt.placement ? more : 0;
    return {count, std::move(attempt.placement), std::move(attempt.obstacle)};
  }

  // Assumes that if so many members fit, fewer fit as well.
  Growth mostThatFit(const Wish& wish, int more) {
    Growth most;
    int beyond = capacityFor(wish, more) + 1;
    for (int count = beyond - 1; most.count + 1 < beyond; count = most.count + (beyond - most.count) / 2) {
      Growth now = tried(wish, count);
      if (now.placement) {
        most.count = count;
        most.placement = std::move(now.placement);
      } else {
        beyond = count;
        most.obstacle = std::move(now.obstacle);
      }
    }
    return most;
  }

  // Returns how many members fit, at most `more`, wherever their nodes are.
  int capacityFor(const Wish& wish, int more) {
    const model::PodShape& shape = wish.role->shape;
    NodeRefusals::Answers& known = request_.refusals.of(shape);
    std::int64_t available = 0;
    for (std::size_t i = 0; i < request_.ledger.nodes().size() && available < more; ++i) {
      const Ledger::NodeCapacity& each = request_.ledger.nodes()[i];
      // Capacity is checked first, because constraints may be long.
      const std::int64_t fits = each.free.timesCovered(shape.requests, more - available);
      if (fits > 0 && known.mayUse(i, *each.node, shape)) available += fits;
    }
    budget_.spend(static_cast<std::int64_t>(request_.ledger.nodes().size()) + request_.refusals.takeWork());
    return static_cast<int>(std::min<std::int64_t>(available, more));
  }

  Attempt placementFor(const Wish& wish, int count) {
    const Job& job = *wish.job;
    const model::Policy& policy = request_.snapshot.policy;
    budget_.spend(
        static_cast<std::int64_t>(request_.ledger.nodes().size() * request_.domains.levels().size()));
    auto placement =
        placeJoining(job, *wish.role, count, policy.mixGpuTypes ? std::string() : policy.gpuTypeLabel,
                     request_.ledger, request_.domains, request_.refusals);
    budget_.spend(request_.refusals.takeWork());
    if (!placement) return {};
    const QueueTree& tree = request_.queues;
    const QueueTree::Index queue = tree.queueOf(job);
    const Amounts held = heldBy(tree.capacity(), job, placement->assignments);
    const auto beyond = exceededQuota(tree, queue, held, model::chargedPreemptible(job));
    if (beyond) return {.obstacle = {.limitedQueue = tree.node(beyond->queue).name}};
    const model::ObjectKey* holder = request_.reservedFor(job, priorities_.of(job), placement->assignments);
    if (holder != nullptr) return {.obstacle = {.holder = *holder}};
    return {.placement = std::move(placement)};
  }

  void take(const Wish& wish, Placement placement) {
    const JobPtr& job = wish.job;
    QueueTree& tree = request_.queues;
    tree.charge(tree.queueOf(*job), heldBy(tree.capacity(), *job, placement.assignments),
                !model::chargedPreemptible(*job));
    for (const model::Assignment& each : placement.assignments) {
      request_.ledger.take(*request_.ledger.find(each.node), wish.role->shape.requests,
                           static_cast<int>(each.indices.size()), job.get());
    }
    grown_.insert(job->key);
    answer_.changes.push_back({.job = job, .kind = ChangeKind::kGrow, .add = std::move(placement)});
  }

  const ScaleRequest& request_;
  const Priorities priorities_;
  ScaleAnswer answer_;
  std::set<model::ObjectKey> grown_;
  WorkBudget budget_{kMaxWork};
};

}  // namespace

std::optional<int> requestedSize(const Job& job) {
  if (!job.spec.elastic) return std::nullopt;
  const model::Elastic& elastic = *job.spec.elastic;
  if (job.spec.findRole(elastic.role) == nullptr) return std::nullopt;
  return std::clamp(elastic.replicas, elastic.minReplicas, elastic.maxReplicas);
}

bool requestsOtherSize(const Job& job) {
  const auto asked = requestedSize(job);
  if (!asked) return false;
  const int has = model::gangMembers(job, *job.spec.findRole(job.spec.elastic->role));
  // Members that the cluster gave beyond the request do not count until the user asks again.
  const model::ResizeStatus& resize = job.status.resize;
  const bool given = resize.decidedBy != model::SizeOwner::kSpec && has > *asked &&
                     job.generation == job.status.observedGeneration;
  return has != *asked && !given;
}

bool worthPausing(const Job& job, std::int64_t more, const model::Snapshot& snapshot) {
  if (resizeMethod(job.spec) != ResizeMethod::kByRestart) return true;
  constexpr std::int64_t kPermille = 1'000;
  const auto seconds = [](auto time) { return std::chrono::ceil<std::chrono::seconds>(time).count(); };
  return more * seconds(cooldownOf(job, snapshot.policy)) * kPermille >=
         elasticMembers(job) * seconds(resizePause(job, snapshot)) * snapshot.policy.resize.gainPermille;
}

ScaleAnswer scaleAsRequested(const ScaleRequest& request) { return UserScale(request).run(); }

}  // namespace trainyard::core
