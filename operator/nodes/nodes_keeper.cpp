#include "operator/nodes/nodes_keeper.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;
using model::ProvisioningBy;

// All jobs that want nodes are examined together: there may be thousands, and each cycle updates some of
// them.
constexpr base::Instant::duration kCoalesce = std::chrono::milliseconds(500);
constexpr base::Instant::duration kRetry = std::chrono::seconds(2);
constexpr base::Instant::duration kSyncPoll = std::chrono::milliseconds(50);

// True for transient errors: the same request may succeed when repeated.
bool isTransient(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kOutcomeUnknown ||
         code == ErrorCode::kThrottled || code == ErrorCode::kConflict || code == ErrorCode::kCancelled ||
         code == ErrorCode::kUnauthorized;
}

}  // namespace

NodesKeeper::NodesKeeper(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      requests_({.api = deps_.api,
                 .executor = deps_.executor,
                 .log = deps_.log,
                 .rng = deps_.rng,
                 .changed = [this] { lookSoon(); }}),
      placeholders_(deps_.api, deps_.executor, deps_.cache),
      metrics_(deps_.metrics),
      condition_(deps_.api, deps_.executor, deps_.cache, deps_.events, metrics_),
      timer_(deps_.executor, [this] { look(); }) {
  deps_.cache.jobs.onChange(
      [this](const auto& before, const auto& after) { note((after ? after : before)->key, after); });
}

void NodesKeeper::start() {
  started_ = true;
  lookSoon();
}

void NodesKeeper::setPolicy(const model::ProvisioningPolicy& policy,
                            const std::vector<model::TopologyLevel>& levels) {
  policy_ = policy;
  levels_ = levels;
  if (policy_.by == ProvisioningBy::kDisabled && jobs_.empty()) return;
  for (const auto& job : deps_.cache.jobs.all()) note(job->key, job);
  lookSoon();
}

void NodesKeeper::note(const model::ObjectKey& key, const JobPtr& job) {
  if (policy_.by == ProvisioningBy::kDisabled && jobs_.empty()) return;
  const bool known = jobs_.contains(key);
  const bool concerned = job && (core::wantsNodes(*job, levels_) ||
                                 job->condition(model::conditions::kNodesRequested) != nullptr);
  if (!known && !concerned) return;
  if (!known) jobs_.emplace(key, State{});
  lookSoon();
}

void NodesKeeper::lookSoon(base::Instant::duration delay) {
  if (!started_) return;
  timer_.askFor(deps_.executor.now() + std::max(delay, kCoalesce));
}

void NodesKeeper::look() {
  if (jobs_.empty() || !deps_.leading()) return;
  if (!requests_.ready(policy_.by == ProvisioningBy::kProvisioningRequest)) return lookSoon(kSyncPoll);
  Look look{.newest = requests_.newest()};
  std::optional<base::Instant> next;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const auto each = at++;
    if (each->second.busy) {
      look.open.add(each->first.ns);
      continue;
    }
    const auto due = decide(each->first, each->second, look);
    if (due) next = next ? std::min(*next, *due) : due;
  }
  requestWithinLimit(look);
  metrics_.open.set(look.open.all);
  if (next) lookSoon(*next - deps_.executor.now());
}

// Requests nodes as far as limits allow. The end of another request triggers a look at the remaining jobs.
void NodesKeeper::requestWithinLimit(Look& look) {
  std::vector<const model::Job*> wanting;
  for (const Asking& each : look.asking) wanting.push_back(each.job.get());
  for (const std::size_t each :
       core::selectRequesters(wanting, look.open.byNamespace, policy_.maxJobs - look.open.all)) {
    look.open.add(look.asking[each].job->key.ns);
    ask(look.asking[each]);
  }
}

// Returns when to look again if no event triggers that.
std::optional<base::Instant> NodesKeeper::decide(const model::ObjectKey& key, State& state, Look& look) {
  const JobPtr job = deps_.cache.jobs.find(key);
  if (!job) {  // its requests are deleted with it
    jobs_.erase(key);
    return std::nullopt;
  }
  if (state.uid != job->uid) {  // another job has taken the name
    state.uid = job->uid;
    state.memory = {};
  }
  if (state.notBefore > deps_.executor.now()) return state.notBefore;
  const auto found = find(*job, state, look);
  const bool ours = !found || found->by == policy_.by;
  const base::WallTime now = deps_.executor.wallNow();
  const core::NodesDecision decision =
      core::decideNodes(*job, ours && core::wantsNodes(*job, levels_), found ? &found->request : nullptr,
                        state.memory, policy_, now);
  if (decision.report && !isReported(*job, *decision.report)) {
    look.open.add(key.ns);
    report(job, *decision.report);
    return std::nullopt;
  }
  switch (decision.step) {
    case core::NodesStep::kRequest: look.asking.push_back({job, decision.attempt}); break;
    case core::NodesStep::kWithdraw: withdraw(job, *found, decision); break;
    case core::NodesStep::kNothing:
      if (found) look.open.add(key.ns);
      if (found && isIncomplete(*job, *found)) {
        ask({job, decision.attempt, false});
      } else if (!found && !core::wantsNodes(*job, levels_) && !remembers(*job, state)) {
        jobs_.erase(key);
      }
      break;
  }
  if (!decision.wakeAt) return std::nullopt;
  return deps_.executor.now() + std::max(base::WallTime::duration::zero(), *decision.wakeAt - now);
}

// A job that wants no nodes for a while, for example while suspended, keeps its failure count.
bool NodesKeeper::remembers(const model::Job& job, const State& state) {
  return state.memory.attempts > 0 && !job.status.gang.placed && !job.finished();
}

std::optional<FoundRequest> NodesKeeper::find(const model::Job& job, const State& state,
                                              const Look& look) const {
  const auto newest = look.newest.find({job.key.ns, job.uid});
  if (newest != look.newest.end()) return FoundRequest{*newest->second, ProvisioningBy::kProvisioningRequest};
  return placeholders_.find(job, state.memory.attempts + 1);
}

void NodesKeeper::ask(const Asking& asking) {
  const JobPtr& job = asking.job;
  auto calls = creation(asking);
  if (!calls) return refused(job, asking.attempt, calls.error().message);
  jobs_[job->key].busy = true;
  makeInOrder(std::move(*calls), alive_,
              [this, job, attempt = asking.attempt, fresh = asking.fresh](const base::Result<void>& result) {
                if (result) {
                  if (fresh) metrics_.asked.increment();
                  deps_.log.info("nodes requested",
                                 {{"job", fmt::format("{}", job->key)}, {"attempt", attempt}});
                  return free(job->key);
                }
                if (isTransient(result.error().code)) return free(job->key, kRetry);
                refused(job, attempt, result.error().message);
              });
}

base::Result<ApiCalls> NodesKeeper::creation(const Asking& asking) {
  if (policy_.by == ProvisioningBy::kProvisioningRequest) {
    if (requests_.isApiAbsent())
      return base::fail(
          ErrorCode::kUnsupported,
          "the cluster does not have the API autoscaling.x-k8s.io, which Cluster Autoscaler brings");
    return requests_.creation(asking.job, asking.attempt, policy_);
  }
  ApiCalls calls = placeholders_.creation(asking.job, asking.attempt);
  if (asking.fresh && calls.empty())
    return base::fail(ErrorCode::kConflict, "other pods have the names of its placeholders");
  return calls;
}

void NodesKeeper::withdraw(const JobPtr& job, const FoundRequest& found,
                           const core::NodesDecision& decision) {
  ApiCalls calls = found.by == ProvisioningBy::kProvisioningRequest ? requests_.removal(*job, found)
                                                                    : placeholders_.removal(found);
  jobs_[job->key].busy = true;
  makeInOrder(std::move(calls), alive_, [this, job, found, decision](const base::Result<void>& result) {
    if (!result) {
      deps_.log.warning("a request for nodes could not be withdrawn",
                        {{"job", fmt::format("{}", job->key)}, {"error", result.error().message}});
      return free(job->key, kRetry);
    }
    withdrawn(*job, found, decision);
    free(job->key);
  });
}

void NodesKeeper::withdrawn(const model::Job& job, const FoundRequest& found,
                            const core::NodesDecision& decision) {
  if (found.by == ProvisioningBy::kProvisioningRequest) {
    requests_.forget(found);
  } else {
    placeholders_.forget(found);
  }
  core::NodesHistory& memory = jobs_[job.key].memory;
  // Suspending a job counts as a failed attempt: otherwise suspension would bypass the back-off.
  if (decision.failed || job.spec.run.suspend) {
    const int attempt = found.request.attempt;
    memory = {attempt, deps_.executor.wallNow() + core::nodesBackoff(policy_, attempt)};
  } else if (job.status.gang.placed) {
    memory = {};
  }
}

// The request could not be made. It still counts as an attempt.
void NodesKeeper::refused(const JobPtr& job, int attempt, const std::string& why) {
  jobs_[job->key].memory = {attempt, deps_.executor.wallNow() + core::nodesBackoff(policy_, attempt)};
  deps_.log.warning("nodes cannot be requested", {{"job", fmt::format("{}", job->key)}, {"error", why}});
  report(job, core::nodesRefused(policy_, attempt, why));
}

void NodesKeeper::report(const JobPtr& job, const core::NodesReport& report) {
  jobs_[job->key].busy = true;
  condition_.write(job, report, [this, key = job->key](ConditionWrite written) {
    if (written == ConditionWrite::kNoJob) jobs_.erase(key);
    if (written == ConditionWrite::kDone) return free(key);
    free(key, kRetry);
  });
}

void NodesKeeper::free(const model::ObjectKey& key, base::Instant::duration pause) {
  const auto state = jobs_.find(key);
  if (state != jobs_.end()) {
    state->second.busy = false;
    state->second.notBefore = deps_.executor.now() + pause;
  }
  lookSoon(pause);
}

}  // namespace trainyard::operator_
