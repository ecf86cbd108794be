#include "operator/nodes_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/cut_text.h"
#include "base/plain_text.h"
#include "codec/job_status.h"
#include "codec/nodes_request.h"
#include "kube/paths.h"
#include "model/limits.h"
#include "model/names.h"
#include "model/set_condition.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;
using model::ProvisioningBy;

// All jobs that want nodes are examined together: there may be thousands, and each cycle updates some of
// them.
constexpr base::Instant::duration kCoalesce = std::chrono::milliseconds(500);
constexpr base::Instant::duration kRetry = std::chrono::seconds(2);
constexpr base::Instant::duration kApiAge = std::chrono::seconds(30);
constexpr base::Instant::duration kSyncPoll = std::chrono::milliseconds(50);

telemetry::Counter results(telemetry::MetricsRegistry& metrics, const char* result) {
  return metrics.counter("trainyard_node_requests_total",
                         "Requests for the nodes of a gang, by outcome: made, Provisioned, or failed.",
                         {{"result", result}});
}

// True for transient errors: the same request may succeed when repeated.
bool isTransient(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kOutcomeUnknown ||
         code == ErrorCode::kThrottled || code == ErrorCode::kConflict || code == ErrorCode::kCancelled ||
         code == ErrorCode::kUnauthorized;
}

// A repeated create finds its own object, a repeated delete none.
kube::ApiCallback tolerating(ErrorCode code, kube::ApiCallback done) {
  return [code, done = std::move(done)](base::Result<kube::ApiResponse> answer) {
    if (!answer && answer.error().code == code) return done(kube::ApiResponse{});
    done(std::move(answer));
  };
}

}  // namespace

NodesKeeper::NodesKeeper(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      requests_(codec::decodeNodesRequest, deps_.log),
      asked_(results(deps_.metrics, "asked")),
      provisioned_(results(deps_.metrics, "provisioned")),
      failed_(results(deps_.metrics, "failed")),
      open_(deps_.metrics.gauge("trainyard_node_requests_open", "Jobs for which nodes are requested now.")) {
  deps_.cache.jobs.onChange(
      [this](const auto& before, const auto& after) { note((after ? after : before)->key, after); });
  requests_.onChange([this](const auto&, const auto&) { lookSoon(); });
}

NodesKeeper::~NodesKeeper() {
  *alive_ = false;
  deps_.executor.cancel(timer_);
}

kube::ApiCallback NodesKeeper::guarded(std::function<void(const Answer&)> callback) const {
  return [alive = alive_, callback = std::move(callback)](const Answer& answer) {
    if (*alive) callback(answer);
  };
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
  const base::Instant due = deps_.executor.now() + std::max(delay, kCoalesce);
  if (timerDue_ && *timerDue_ <= due) return;
  deps_.executor.cancel(timer_);
  timerDue_ = due;
  timer_ = deps_.executor.postAt(due, [this, alive = alive_] {
    if (!*alive) return;
    timerDue_.reset();
    look();
  });
}

void NodesKeeper::look() {
  if (jobs_.empty() || !deps_.leading()) return;
  if (!ready()) return lookSoon(kSyncPoll);
  listNewest();
  std::optional<base::Instant> next;
  std::vector<Asking> asking;
  Open open;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const auto each = at++;
    if (each->second.busy) {
      open.add(each->first.ns);
      continue;
    }
    const auto due = decide(each->first, each->second, asking, open);
    if (due) next = next ? std::min(*next, *due) : due;
  }
  requestWithinLimit(asking, open);
  open_.set(open.all);
  if (next) lookSoon(*next - deps_.executor.now());
}

// Requests nodes as far as limits allow. The end of another request triggers a look at the remaining jobs.
void NodesKeeper::requestWithinLimit(const std::vector<Asking>& asking, Open& open) {
  std::vector<const model::Job*> wanting;
  for (const Asking& each : asking) wanting.push_back(each.job.get());
  for (const std::size_t each :
       core::selectRequesters(wanting, open.byNamespace, policy_.maxJobs - open.all)) {
    open.add(asking[each].job->key.ns);
    ask(asking[each]);
  }
}

// True if the existing requests have been read.
bool NodesKeeper::ready() {
  if (policy_.by != ProvisioningBy::kProvisioningRequest) return !reflector_ || reflector_->synced();
  if (api_ == Api::kNone) return true;
  if (api_ == Api::kUnknown) lookForApi(Api::kV1);
  return reflector_ && reflector_->synced();
}

void NodesKeeper::lookForApi(Api version) {
  api_ = Api::kBeingLookedFor;
  const auto& type = version == Api::kV1 ? kube::kProvisioningRequests : kube::kOlderProvisioningRequests;
  deps_.api.request(
      {.path = type.collection(), .query = {{"limit", "1"}}}, guarded([this, version](const Answer& answer) {
        if (answer) return apiFound(version);
        const bool absent = answer.error().code == ErrorCode::kNotFound;
        if (absent && version == Api::kV1) return lookForApi(Api::kV1Beta1);
        if (absent) return apiFound(Api::kNone);
        deps_.log.warning("requests for nodes cannot be listed", {{"error", answer.error().message}});
        deps_.executor.postAfter(kRetry, [this, alive = alive_] {
          if (!*alive) return;
          api_ = Api::kUnknown;
          lookSoon();
        });
      }));
}

void NodesKeeper::apiFound(Api version) {
  api_ = version;
  if (version == Api::kNone) {
    // An administrator may install the API, so later attempts look for it again.
    deps_.executor.postAfter(kApiAge, [this, alive = alive_] {
      if (*alive && api_ == Api::kNone) api_ = Api::kUnknown;
    });
    return lookSoon();
  }
  kube::ReflectorOptions options{.type = requestType()};
  options.selectors = {{"labelSelector", std::string(model::names::kJobUidLabel)}};
  reflector_ = std::make_unique<kube::Reflector>(std::move(options), deps_.api, deps_.executor, deps_.rng(),
                                                 deps_.log, requests_);
  reflector_->start();
  lookSoon();
}

const kube::ResourceType& NodesKeeper::requestType() const {
  return api_ == Api::kV1Beta1 ? kube::kOlderProvisioningRequests : kube::kProvisioningRequests;
}

// Returns when to look again if no event triggers that.
std::optional<base::Instant> NodesKeeper::decide(const model::ObjectKey& key, State& state,
                                                 std::vector<Asking>& asking, Open& open) {
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
  const auto found = find(*job);
  const bool ours = !found || found->by == policy_.by;
  const base::WallTime now = deps_.executor.wallNow();
  const core::NodesDecision decision =
      core::decideNodes(*job, ours && core::wantsNodes(*job, levels_), found ? &found->request : nullptr,
                        state.memory, policy_, now);
  if (decision.report && !isReported(*job, *decision.report)) {
    open.add(key.ns);
    writeCondition(job, *decision.report);
    return std::nullopt;
  }
  switch (decision.step) {
    case core::NodesStep::kRequest: asking.push_back({job, decision.attempt}); break;
    case core::NodesStep::kWithdraw: withdraw(job, *found, decision); break;
    case core::NodesStep::kNothing:
      if (found) open.add(key.ns);
      if (found && incomplete(*job, *found)) {
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

bool NodesKeeper::isReported(const model::Job& job, const core::NodesReport& report) const {
  const model::Condition* reported = job.condition(model::conditions::kNodesRequested);
  return reported != nullptr && (reported->status == model::ConditionStatus::kTrue) == report.asked &&
         reported->reason == report.reason &&
         reported->message ==
             base::cutText(base::plainText(report.message, false), model::limits::kConditionMessage);
}

// Users may create any number of requests with any job's uid, but only in their own namespace.
void NodesKeeper::listNewest() {
  newest_.clear();
  for (const auto& request : requests_.all()) {
    auto& newest = newest_[{request->key.ns, request->job}];
    if (!newest || newest->attempt < request->attempt) newest = request;
  }
}

std::optional<NodesKeeper::Found> NodesKeeper::find(const model::Job& job) const {
  const auto newest = newest_.find({job.key.ns, job.uid});
  if (newest != newest_.end()) return Found{*newest->second, ProvisioningBy::kProvisioningRequest};
  return findPlaceholders(job);
}

std::optional<NodesKeeper::Found> NodesKeeper::findPlaceholders(const model::Job& job) const {
  const std::string prefix = codec::placeholderPrefix(job);
  const model::ObjectKey first{job.key.ns, prefix};
  Found found{{}, ProvisioningBy::kPlaceholderPods};
  const auto pods = deps_.cache.pods.all();
  const auto& items = pods.items();
  for (auto at = std::lower_bound(items.begin(), items.end(), first,
                                  [](const auto& pod, const auto& wanted) { return pod->key < wanted; });
       at != items.end() && (*at)->key.ns == job.key.ns && (*at)->key.name.starts_with(prefix); ++at) {
    if ((*at)->placeholderOf != job.uid) {
      ++found.foreignPods;
    } else if (!(*at)->terminating) {
      found.placeholders.push_back(*at);
    }
  }
  if (found.placeholders.empty()) return std::nullopt;
  found.request.key = {job.key.ns, "placeholder pods"};
  found.request.job = job.uid;
  found.request.created = found.placeholders.front()->created;
  const auto state = jobs_.find(job.key);
  found.request.attempt = state == jobs_.end() ? 1 : state->second.memory.attempts + 1;
  return found;
}

// True if placeholders are missing or unmarked, because the process that made them ended too early.
bool NodesKeeper::incomplete(const model::Job& job, const Found& found) const {
  if (found.by != ProvisioningBy::kPlaceholderPods) return false;
  std::size_t wanted = 0;
  for (const model::Role& role : job.spec.roles)
    wanted += static_cast<std::size_t>(codec::membersToAskFor(job.spec, role));
  return found.placeholders.size() + found.foreignPods < wanted ||
         std::any_of(
             found.placeholders.begin(), found.placeholders.end(),
             [](const auto& pod) { return pod->unschedulableMessage.empty(); });
}

void NodesKeeper::ask(const Asking& asking) {
  const JobPtr& job = asking.job;
  const bool byRequest = policy_.by == ProvisioningBy::kProvisioningRequest;
  if (byRequest && api_ == Api::kNone)
    return refused(job, asking.attempt,
                   "the cluster does not have the API autoscaling.x-k8s.io, which Cluster Autoscaler brings");
  const auto calls = byRequest ? requestCalls(job, asking.attempt)
                               : base::Result<Calls>(placeholderCalls(job, asking.attempt));
  if (!calls) return refused(job, asking.attempt, calls.error().message);
  if (asking.fresh && (*calls)->empty())
    return refused(job, asking.attempt, "other pods have the names of its placeholders");
  jobs_[job->key].busy = true;
  run(*calls, 0,
      [this, job, attempt = asking.attempt, fresh = asking.fresh](const base::Result<void>& result) {
        if (result) {
          if (fresh) asked_.increment();
          deps_.log.info("nodes requested", {{"job", fmt::format("{}", job->key)}, {"attempt", attempt}});
          return free(job->key);
        }
        if (isTransient(result.error().code)) return free(job->key, kRetry);
        refused(job, attempt, result.error().message);
      });
}

base::Result<NodesKeeper::Calls> NodesKeeper::requestCalls(const JobPtr& job, int attempt) {
  auto calls = std::make_shared<std::vector<Call>>();
  for (const model::Role& role : job->spec.roles) {
    if (codec::membersToAskFor(job->spec, role) == 0) continue;
    auto body = codec::encodeNodesTemplate(*job, role, attempt);
    if (!body) return base::fail(body.error());
    calls->push_back([this, job, body = std::move(*body)](kube::ApiCallback done) {
      deps_.api.create(kube::kPodTemplates.collection(job->key.ns), body,
                       tolerating(ErrorCode::kAlreadyExists, std::move(done)));
    });
  }
  const auto version = api_ == Api::kV1Beta1 ? codec::NodesApi::kV1Beta1 : codec::NodesApi::kV1;
  calls->push_back(
      [this, job, body = codec::encodeNodesRequest(*job, attempt, version, policy_)](kube::ApiCallback done) {
        auto taken = [this, alive = alive_, done = std::move(done)](Answer answer) {
          if (*alive && answer) requests_.applyWrite(answer->body, kube::WriteKind::kCreate);
          done(std::move(answer));
        };
        deps_.api.create(requestType().collection(job->key.ns), body,
                         tolerating(ErrorCode::kAlreadyExists, std::move(taken)));
      });
  return calls;
}

NodesKeeper::Calls NodesKeeper::placeholderCalls(const JobPtr& job, int attempt) {
  auto calls = std::make_shared<std::vector<Call>>();
  const std::string mark = codec::encodeUnschedulable(deps_.executor.wallNow());
  for (const model::Role& role : job->spec.roles) {
    for (int index = 0; index < codec::membersToAskFor(job->spec, role); ++index) {
      const model::ObjectKey key{job->key.ns, codec::placeholderName(*job, role, index)};
      const auto pod = deps_.cache.pods.find(key);
      if (pod && pod->placeholderOf != job->uid) continue;  // a foreign pod has the name
      if (!pod) {
        // Encoded when its turn comes: all bodies of a large gang at once would take too much memory.
        calls->push_back([this, job, at = &role, index, attempt, key](kube::ApiCallback done) {
          const auto body = codec::encodePlaceholder(*job, *at, index, attempt);
          if (!body) return done(base::fail(body.error()));
          deps_.api.create(kube::kPods.collection(key.ns), *body,
                           tolerating(ErrorCode::kAlreadyExists, cached(std::move(done))));
        });
      }
      if (pod && !pod->unschedulableMessage.empty()) continue;
      calls->push_back([this, job, key, mark](kube::ApiCallback done) {
        // By now the placeholder exists, or a foreign pod has its name, which must not be written.
        const auto made = deps_.cache.pods.find(key);
        if (!made || made->placeholderOf != job->uid)
          return done(base::fail(ErrorCode::kConflict, fmt::format("pod {} is not known yet", key)));
        deps_.api.patch(kube::PatchType::kStrategicMerge, kube::kPods.object(key.ns, key.name, "status"),
                        mark, cached(std::move(done)));
      });
    }
  }
  return calls;
}

// Puts the returned pod into the cache before the watch delivers it.
kube::ApiCallback NodesKeeper::cached(kube::ApiCallback done) {
  return [this, alive = alive_, done = std::move(done)](Answer answer) {
    if (*alive && answer && !answer->body.empty())
      deps_.cache.pods.applyWrite(answer->body, kube::WriteKind::kCreate);
    done(std::move(answer));
  };
}

void NodesKeeper::withdraw(const JobPtr& job, const Found& found, const core::NodesDecision& decision) {
  auto calls = std::make_shared<std::vector<Call>>();
  const auto remove = [&](std::string path, const codec::DeleteOptions& options) {
    calls->push_back([this, path = std::move(path), options](kube::ApiCallback done) {
      deps_.api.remove(path, options, tolerating(ErrorCode::kNotFound, std::move(done)));
    });
  };
  const model::NodesRequest& request = found.request;
  for (const auto& pod : found.placeholders) {
    codec::DeleteOptions options{.uid = pod->uid.str()};
    options.gracePeriodSeconds = 0;
    remove(kube::kPods.object(pod->key.ns, pod->key.name), options);
  }
  if (found.by == ProvisioningBy::kProvisioningRequest) {
    remove(requestType().object(request.key.ns, request.key.name), {.uid = request.uid.str()});
    for (const model::Role& role : job->spec.roles) {
      remove(kube::kPodTemplates.object(job->key.ns, codec::nodesTemplateName(*job, role, request.attempt)),
             {});
    }
  }
  jobs_[job->key].busy = true;
  run(calls, 0, [this, job, found, decision](const base::Result<void>& result) {
    if (!result) {
      deps_.log.warning("a request for nodes could not be withdrawn",
                        {{"job", fmt::format("{}", job->key)}, {"error", result.error().message}});
      return free(job->key, kRetry);
    }
    requests_.forget(found.request.key, found.request.uid.str());
    for (const auto& pod : found.placeholders) deps_.cache.pods.forget(pod->key, pod->uid.str());
    core::NodesHistory& memory = jobs_[job->key].memory;
    // Suspending a job counts as a failed attempt: otherwise suspension would bypass the back-off.
    if (decision.failed || job->spec.run.suspend) {
      const int attempt = found.request.attempt;
      memory = {attempt, deps_.executor.wallNow() + core::nodesBackoff(policy_, attempt)};
    } else if (job->status.gang.placed) {
      memory = {};
    }
    free(job->key);
  });
}

// The request could not be made. It still counts as an attempt.
void NodesKeeper::refused(const JobPtr& job, int attempt, const std::string& why) {
  jobs_[job->key].memory = {attempt, deps_.executor.wallNow() + core::nodesBackoff(policy_, attempt)};
  deps_.log.warning("nodes cannot be requested", {{"job", fmt::format("{}", job->key)}, {"error", why}});
  writeCondition(job, core::nodesRefused(policy_, attempt, why));
}

void NodesKeeper::writeCondition(const JobPtr& job, const core::NodesReport& report) {
  model::JobStatus status = job->status;
  model::setCondition(status.conditions, model::conditions::kNodesRequested,
                      report.asked ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse,
                      report.reason,
                      std::string(base::cutText(report.message, model::limits::kConditionMessage)),
                      deps_.executor.wallNow(), job->generation);
  const auto patch = codec::encodeStatusPatch(*job, status);
  if (!patch) return free(job->key, kRetry);
  jobs_[job->key].busy = true;
  deps_.api.patch(kube::PatchType::kMerge, kube::kTrainingJobs.object(job->key.ns, job->key.name, "status"),
                  *patch,
                  guarded([this, job, report](const Answer& answer) { reported(job, report, answer); }));
}

void NodesKeeper::reported(const JobPtr& job, const core::NodesReport& report, const Answer& answer) {
  if (!answer) {
    if (answer.error().code == ErrorCode::kNotFound) jobs_.erase(job->key);
    return free(job->key, kRetry);
  }
  deps_.cache.jobs.applyWrite(answer->body);
  const model::Condition* before = job->condition(model::conditions::kNodesRequested);
  const bool sameReason = before != nullptr && before->reason == report.reason;
  if (report.isWarning) {
    failed_.increment();
    deps_.events.record(*job, {true, "NodesNotProvisioned", report.message});
  } else if (report.reason == "Provisioned" && !sameReason) {
    provisioned_.increment();
    deps_.events.record(*job, {false, "NodesProvisioned", report.message});
  } else if (report.asked && !sameReason) {
    deps_.events.record(*job, {false, "NodesRequested", report.message});
  }
  free(job->key);
}

// Runs the calls one after the other, up to the first that fails.
void NodesKeeper::run(const Calls& calls, std::size_t next,
                      const std::function<void(const base::Result<void>&)>& done) {
  if (next == calls->size()) return done({});
  (*calls)[next](guarded([this, calls, next, done](const Answer& answer) {
    if (!answer) return done(base::fail(answer.error()));
    run(calls, next + 1, done);
  }));
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
