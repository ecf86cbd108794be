#include "core/cycle/user_scale.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/gang.h"
#include "core/place.h"
#include "core/resize.h"
#include "model/charge.h"
#include "model/gang_size.h"
#include "model/words.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = std::shared_ptr<const Job>;

// Placements are searched for so many in one cycle; the others are looked at when something changes.
constexpr int kMostLookedAt = 64;

class UserScale {
 public:
  explicit UserScale(const ScaleRequest& request) : request_(request) {}

  ScaleAnswer run() {
    std::vector<JobPtr> growing;
    for (const JobPtr& job : request_.gangs) {
      const int asked = askedSize(*job).value_or(0);
      const int has = model::gangMembers(*job, roleOf(*job));
      if (asked > has) growing.push_back(job);
      if (asked < has && rested(*job)) shrink(job, asked);
    }
    // Who wishes for least first: so most gangs have what they wish.
    const auto order = [](const Job& job) {
      return std::tuple(!askedAnew(job), model::desiredGpus(job.spec), job.created);
    };
    std::stable_sort(growing.begin(), growing.end(),
                     [&](const JobPtr& a, const JobPtr& b) { return order(*a) < order(*b); });
    for (const JobPtr& job : growing) {
      if (rested(*job)) grow(job);
    }
    return std::move(answer_);
  }

 private:
  static const model::Role& roleOf(const Job& job) { return *job.spec.findRole(job.spec.elastic->role); }

  // After an attempt that was given up; and, but for a user who asks anew, after it had to make room for
  // others: those may come back, and it would only go to and fro.
  bool rested(const Job& job) {
    const auto rests = [&](const std::optional<base::WallTime>& until) {
      if (!until || request_.snapshot.now >= *until) return false;
      answer_.wakeAt = answer_.wakeAt ? std::min(*answer_.wakeAt, *until) : *until;
      return true;
    };
    const auto& backoff = job.status.gang.backoff;
    if (backoff && rests(backoff->until)) return false;
    const model::ResizeStatus& resize = job.status.resize;
    const bool gaveWay = resize.decidedBy == model::SizeOwner::kPreemption && !askedAnew(job);
    return !gaveWay || !rests(resize.cooldownUntil);
  }

  static bool askedAnew(const Job& job) { return job.generation != job.status.observedGeneration; }

  void shrink(const JobPtr& job, int to) {
    answer_.changes.push_back(
        {.job = job, .kind = ChangeKind::kShrink, .remove = lastMembers(*job, elasticMembers(*job) - to)});
  }

  void grow(const JobPtr& job) {
    const int has = model::gangMembers(*job, roleOf(*job));
    const int more = *askedSize(*job) - has;
    const auto wants = [&] { return fmt::format("{} are asked for, it has {}", has + more, has); };
    if (request_.keptFor)
      return hold(*job,
                  fmt::format("{}: what is free is kept for {}, which waits", wants(), *request_.keptFor));
    if (++lookedAt_ > kMostLookedAt) return;
    const bool whole = resizeWay(job->spec) == ResizeWay::kAnew && askedAnew(*job);
    int count = whole ? more : mostThatFit(*job, more);
    if (count < more && !worthAPause(*job, count, has)) count = 0;
    auto places = count > 0 ? placesFor(*job, count) : std::nullopt;
    if (!places) count = 0;
    if (count < more) {
      hold(*job, fmt::format("{}: there is room for {} now{}", wants(),
                             count == 0 ? "no more" : model::counted(count, "more"),
                             limited_ ? fmt::format("; queue {} is at its limit", *limited_) : ""));
    }
    if (places) take(job, std::move(*places));
  }

  // A part of what is missing has to gain, until the gang may be resized again, so many times what the pause
  // costs it as the policy has it.
  [[nodiscard]] bool worthAPause(const Job& job, int more, int has) const {
    if (resizeWay(job.spec) != ResizeWay::kAnew) return true;
    constexpr std::int64_t kPermille = 1'000;
    const auto seconds = [](auto time) { return std::chrono::ceil<std::chrono::seconds>(time).count(); };
    const model::Policy& policy = request_.snapshot.policy;
    return more * seconds(cooldownOf(job, policy)) * kPermille >=
           has * seconds(resizePause(job, request_.snapshot)) * policy.resize.gainPermille;
  }

  void hold(const Job& job, std::string why) { answer_.held[job.key] = std::move(why); }

  // Where so many fit, fewer do.
  int mostThatFit(const Job& job, int more) {
    int fits = 0;
    int beyond = more + 1;
    for (int tried = more; fits + 1 < beyond; tried = fits + (beyond - fits) / 2) {
      (placesFor(job, tried) ? fits : beyond) = tried;
    }
    return fits;
  }

  std::optional<Placement> placesFor(const Job& job, int count) {
    const model::Policy& policy = request_.snapshot.policy;
    limited_.reset();
    auto places = placeMore(job, roleOf(job), count, policy.mixGpuTypes ? std::string() : policy.gpuTypeLabel,
                            request_.ledger, request_.domains);
    if (!places) return std::nullopt;
    const QueueTree& tree = request_.queues;
    const QueueTree::Index queue = tree.queueOf(job);
    const QueueTree::Amounts held = tree.heldBy(job, places->assignments);
    auto beyond = tree.beyondLimit(queue, held);
    if (!beyond) beyond = tree.beyondLimitYet(queue, held);
    if (!beyond && !model::chargedPreemptible(job)) beyond = tree.beyondNonPreemptible(queue, held);
    if (!beyond) return places;
    limited_ = tree.node(beyond->queue).name;
    return std::nullopt;
  }

  void take(const JobPtr& job, Placement places) {
    QueueTree& tree = request_.queues;
    tree.charge(tree.queueOf(*job), tree.heldBy(*job, places.assignments), !model::chargedPreemptible(*job));
    for (const model::Assignment& each : places.assignments) {
      request_.ledger.take(*request_.ledger.find(each.node), roleOf(*job).shape.requests,
                           static_cast<int>(each.indices.size()), job.get());
    }
    answer_.changes.push_back({.job = job, .kind = ChangeKind::kGrow, .add = std::move(places)});
  }

  const ScaleRequest& request_;
  ScaleAnswer answer_;
  int lookedAt_ = 0;
  std::optional<std::string> limited_;  // the queue whose limit was in the way of what was asked last
};

}  // namespace

std::optional<int> askedSize(const Job& job) {
  if (!job.spec.elastic) return std::nullopt;
  const model::Elastic& elastic = *job.spec.elastic;
  if (job.spec.findRole(elastic.role) == nullptr) return std::nullopt;
  return std::clamp(elastic.replicas, elastic.minReplicas, elastic.maxReplicas);
}

bool asksForAnotherSize(const Job& job) {
  const auto asked = askedSize(job);
  if (!asked) return false;
  const int has = model::gangMembers(job, *job.spec.findRole(job.spec.elastic->role));
  // What it was given beyond that is not its user's concern, until he asks anew.
  const model::ResizeStatus& resize = job.status.resize;
  const bool given = resize.decidedBy == model::SizeOwner::kCluster && has > *asked &&
                     job.generation == job.status.observedGeneration;
  return has != *asked && !given;
}

ScaleAnswer scaleAsAsked(const ScaleRequest& request) { return UserScale(request).run(); }

}  // namespace trainyard::core
