#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "simulation/world.h"

namespace trainyard::simulation {
namespace {

using namespace std::chrono_literals;

// After the last fault: a lease expires, an attempt reaches its deadline, backs off, and succeeds.
constexpr base::Instant::duration kLongest = 400s;
// Places of bare pods that do not come are kept for five minutes, in each of some lives of their gang.
constexpr base::Instant::duration kLongestOfOwners = 1'500s;
constexpr base::Instant::duration kLook = 500ms;
constexpr base::Instant::duration kTakeOver = 16s;
constexpr base::Instant::duration kServed = 90s;
// A scenario of half a minute with every fault takes some hundreds.
constexpr std::uint64_t kMaxCalls = 6'000;
constexpr std::uint64_t kMaxCallsOfOwners = 20'000;

// The smallest number of members of the role with which the gang starts.
int minimumOf(const model::Job& job, const model::Role& role) {
  const auto& elastic = job.spec.elastic;
  return elastic && elastic->role == role.name ? elastic->minReplicas : job.spec.startReplicas(role);
}

}  // namespace

NodeConstraint World::nodeConstraintOf(const model::Job& job) const {
  const auto plan = std::find_if(scenario_.jobs.begin(), scenario_.jobs.end(),
                                 [&](const JobPlan& each) { return each.gangName() == job.key.name; });
  return plan == scenario_.jobs.end() ? NodeConstraint::kNone : plan->wish;
}

// Returns true if the gang fits the empty, healed cluster: computed node by node, without the product's
// code.
bool World::fits(const model::Job& job) const {
  std::vector<int> members;
  for (const model::Role& role : job.spec.roles) {
    const int gpus = static_cast<int>(role.shape.requests.gpus());
    members.insert(members.end(), static_cast<std::size_t>(minimumOf(job, role)), gpus);
  }
  std::sort(members.rbegin(), members.rend());
  const NodeConstraint wish = nodeConstraintOf(job);
  const int size = job.spec.locality.required.empty() ? scenario_.nodes : scenario_.nodesInRack;
  for (int first = 0; first < scenario_.nodes; first += size) {
    std::vector<int> free;
    for (int node = first; node < std::min(first + size, scenario_.nodes); ++node) {
      if (scenario_.mayUse(node, wish)) free.push_back(scenario_.gpusOnNode);
    }
    // Sizes are powers of two: first fit in descending order is as good as any packing.
    const bool all = std::all_of(members.begin(), members.end(), [&](int gpus) {
      const auto node = std::find_if(free.begin(), free.end(), [&](int left) { return left >= gpus; });
      if (node == free.end()) return false;
      *node = wish == NodeConstraint::kApart ? -1 : *node - gpus;
      return true;
    });
    if (all) return true;
  }
  return false;
}

// Returns true if its queue may ever admit it alone: within the limits, and, if it is not preemptible, beside
// all guarantees. Counted in GPUs, the only resource that queues name here.
bool World::mayEver(const model::Job& job) const {
  std::int64_t gpus = 0;
  for (const model::Role& role : job.spec.roles) gpus += role.shape.requests.gpus() * minimumOf(job, role);
  const auto planOf = [&](const std::string& name) {
    return std::find_if(scenario_.queues.begin(), scenario_.queues.end(),
                        [&](const QueuePlan& plan) { return plan.name == name; });
  };
  for (auto at = planOf(job.spec.queue.str()); at != scenario_.queues.end(); at = planOf(at->parent)) {
    if (at->limit && gpus > *at->limit) return false;
  }
  if (job.spec.preemptible) return true;
  const std::function<std::int64_t(const std::string&)> committedBelow = [&](const std::string& parent) {
    std::int64_t sum = 0;
    for (const QueuePlan& plan : scenario_.queues) {
      if (plan.parent != parent) continue;
      const std::int64_t own = plan.name == job.spec.queue.str() ? gpus : 0;
      sum += std::max<std::int64_t>(plan.guaranteed, own + committedBelow(plan.name));
    }
    return sum;
  };
  const bool elsewhere = planOf(job.spec.queue.str()) == scenario_.queues.end();
  return committedBelow("") + (elsewhere ? gpus : 0) <=
         static_cast<std::int64_t>(scenario_.nodes) * scenario_.gpusOnNode;
}

// Returns true if every gang that can end has ended.
bool World::atRest() const {
  for (const auto& job : truth().jobs.all()) {
    if (job->deleting) return false;
    if (!job->finished() && fits(*job) && mayEver(*job)) return false;
    const auto& gang = job->status.gang;
    if (!job->finished() && (gang.proposal || gang.placed || !job->status.pending)) return false;
  }
  if (!ownersAtRest()) return false;
  return std::all_of(truth().pods.all().begin(), truth().pods.all().end(),
                     [](const auto& pod) { return pod->finished() || pod->arrival; });
}

// A gang that can never start is pending, reports why, and holds nothing.
void World::checkWaiting() {
  using enum model::PendingReason;
  for (const auto& job : truth().jobs.all()) {
    if (job->finished()) continue;
    const auto reason = job->status.pending->reason;
    if (!mayEver(*job) && (reason == kQuotaExceeded || reason == kWaitingForShare)) continue;
    const bool oneRack = scenario_.nodes <= scenario_.nodesInRack;
    if (reason == kNoMatchingNodes && oneRack && nodeConstraintOf(*job) == NodeConstraint::kOtherRack)
      continue;
    if (reason == kTooLarge || reason == kWaitingForTopology || reason == kWaitingForTurn) continue;
    problem(fmt::format("job {} can never fit but says {}: {}", job->key, model::toString(reason),
                        job->status.pending->message));
  }
}

// Jobs that never end hold lent capacity; the laws check that pending jobs get it back in time.
void World::serve() {
  // A crashed leader has been replaced by then.
  runFor(kTakeOver);
  const base::Instant end = cluster_->loop().now() + kServed;
  while (cluster_->loop().now() < end && result_.problems.empty()) {
    runFor(kLook);
    service_->look(cluster_->loop().wallNow());
  }
  for (const JobPlan& plan : scenario_.jobs) {
    if (plan.neverEnds) deleteJob(plan.name);
  }
}

void World::settle() {
  const base::Instant end = cluster_->loop().now() + (scenario_.owners ? kLongestOfOwners : kLongest);
  while (cluster_->loop().now() < end) {
    runFor(kLook);
    if (atRest()) {
      // The leader reports why a job is pending: the next one takes over within 12.3 s, and lists first.
      const auto& jobs = truth().jobs.all();
      const bool waits =
          std::any_of(jobs.begin(), jobs.end(), [](const auto& job) { return !job->finished(); });
      runFor(waits ? kTakeOver : 3s);
      if (atRest()) return checkWaiting();
    }
    if (!cluster_->invariants().violations().empty() || !laws_->violations().empty()) return;
  }
  problem("not everything came to its end");
}

void World::checkEnd() {
  const auto take = [&](const std::vector<std::string>& all) {
    for (const std::string& each : all) problem(each);
  };
  take(cluster_->invariants().violations());
  take(laws_->violations());
  // A back-off that is ignored would otherwise remain undetected.
  if (trace_.lines() > (scenario_.owners ? kMaxCallsOfOwners : kMaxCalls))
    problem(fmt::format("{} calls and troubles in one life", trace_.lines()));
  if (!result_.problems.empty()) return;
  take(cluster_->invariants().leftovers());
  for (const auto& pod : truth().pods.all()) {
    // A node that just lost GPUs, or is new, may refuse a pod: a real owner would create another one.
    const bool foreignPod = pod->key.name.starts_with("foreign-") && !pod->statusReason.starts_with("OutOf");
    if (foreignPod && pod->phase != model::PodPhase::kSucceeded) {
      problem(fmt::format("foreign pod {} did not succeed: {}", pod->key, pod->statusReason));
    }
  }
  for (const std::string& name : submitted_) {
    if (job(name)) continue;
    const std::string service = "/api/v1/namespaces/default/services/" + name;
    if (cluster_->request(net::Method::kGet, service))
      problem(fmt::format("service {} outlived its job", name));
  }
}

std::string World::describeEnd() const {
  std::string text;
  for (const auto& each : cluster_->observer().owners().all()) {
    text += fmt::format("  owner {}{}{}\n", each->key.name, each->owner.suspended ? " suspended" : "",
                        each->owner.end == model::OwnerEnd::kNone ? "" : " has ended");
  }
  for (const auto& job : truth().jobs.all()) {
    text += fmt::format("  job {} {} epoch {}{}{}{}{}\n", job->key.name, job->status.phase,
                        job->status.gang.lastEpoch, job->status.gang.placed ? " placed" : "",
                        job->status.gang.proposal ? " proposal " + job->status.gang.proposal->id : "",
                        job->deleting ? " deleting" : "",
                        job->status.pending ? ": " + job->status.pending->message : "");
  }
  for (const auto& pod : truth().pods.all()) {
    text += fmt::format("  pod {} on {}{}{}{}{}\n", pod->key.name, pod->node, pod->gated ? " gated" : "",
                        pod->terminating ? " terminating" : "", pod->finished() ? " finished" : "",
                        pod->unschedulableMessage.empty() ? "" : ": " + pod->unschedulableMessage);
  }
  for (const auto& node : truth().nodes.all()) {
    text +=
        fmt::format("  node {} {}{} {} GPUs, {} taints\n", node->name, node->ready ? "ready" : "not ready",
                    node->unschedulable ? " cordoned" : "", node->allocatable.gpus(), node->taints.size());
  }
  return text;
}

}  // namespace trainyard::simulation
