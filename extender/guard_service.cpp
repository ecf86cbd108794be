#include "extender/guard_service.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "model/device_names.h"
#include "model/member_of.h"

namespace trainyard::extender {
namespace {

constexpr std::string_view kPathPrefix = "/v1/extender/";
// kube-scheduler asks here about every pod. It asks above as well about those that request GPUs.
constexpr std::string_view kDevicesPath = "/v1/devices/filter";
constexpr std::string_view kNotSynced = "trainyard-extender: caches are not synced yet";
// Fits a request with ten thousand long node names. A larger request gets new buffers each time.
constexpr std::size_t kLargestKeptParser = 1u << 20;

std::optional<Verb> verbOf(std::string_view path) {
  if (path == kDevicesPath) return Verb::kFilter;
  if (!path.starts_with(kPathPrefix)) return std::nullopt;
  const std::string_view name = path.substr(kPathPrefix.size());
  for (const Verb verb : {Verb::kFilter, Verb::kPrioritize, Verb::kPreempt}) {
    if (name == toString(verb)) return verb;
  }
  return std::nullopt;
}

net::HttpResponse json(std::string body) {
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

net::HttpResponse plain(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = body + "\n"};
}

// filter has a field for errors, which kube-scheduler shows in the pod's event. For the other verbs
// kube-scheduler only logs the status.
net::HttpResponse failure(Verb verb, int status, std::string_view message) {
  if (verb == Verb::kFilter) return json(codec::encodeFilterError(message));
  return plain(status, std::string(message));
}

// The pod is as kube-scheduler has it; in the view, pods have their devices.
void addDevices(const devices::DeviceFacts& facts, model::Pod& pod) {
  model::Resources more = devices::askedBy(pod.shape.deviceClaims, pod.key.ns, facts).amount;
  more.add(devices::takenBeside(pod.shape.requests, *facts.catalog));
  for (const auto& [name, amount] : pod.shape.requests.extendedAll()) {
    if (name.starts_with(model::kImplicitPrefix))
      more.add(facts.catalog->asked({name.substr(model::kImplicitPrefix.size())}).times(amount));
  }
  pod.shape.requests.add(more);
}

std::string refusalOfAll(const std::vector<std::string_view>& names, std::string_view why) {
  std::vector<codec::FailedNode> failed;
  for (const std::string_view each : names) failed.push_back({each, why});
  return codec::encodeFilterResult({}, failed);
}

std::string jobOf(const model::Pod& pod) {
  return model::claimsGang(pod) && pod.member ? pod.member->jobName : std::string();
}

}  // namespace

// Borrows one of the pool's parsers for as long as its views are needed.
class GuardService::BorrowedParser {
 public:
  explicit BorrowedParser(GuardService& service) : service_(service) {
    const std::lock_guard lock(service_.parsersMutex_);
    if (!service_.parsers_.empty()) {
      parser_ = std::move(service_.parsers_.back());
      service_.parsers_.pop_back();
    } else {
      parser_ = std::make_unique<codec::ExtenderArgsParser>();
    }
  }
  ~BorrowedParser() {
    if (parser_->capacity() > kLargestKeptParser) return;
    const std::lock_guard lock(service_.parsersMutex_);
    service_.parsers_.push_back(std::move(parser_));
  }
  BorrowedParser(const BorrowedParser&) = delete;
  BorrowedParser& operator=(const BorrowedParser&) = delete;

  codec::ExtenderArgsParser* operator->() { return parser_.get(); }

 private:
  GuardService& service_;
  std::unique_ptr<codec::ExtenderArgsParser> parser_;
};

GuardService::GuardService(const base::Executor& executor, ExtenderMetrics& metrics, base::Logger log)
    : executor_(executor), metrics_(metrics), log_(std::move(log)) {}

net::HttpResponse GuardService::answer(net::ServerRequest& request) {
  const auto verb = verbOf(request.path());
  if (!verb) return plain(404, "try /v1/extender/filter, /v1/extender/prioritize or /v1/extender/preempt");
  if (request.method != net::Method::kPost) return plain(405, "only POST");
  ++inFlight_;
  const base::Instant begin = executor_.now();
  Answer answered =
      request.path() == kDevicesPath ? answerForDevices(request.body) : answer(*verb, request.body);
  metrics_.noteRequest(*verb, answered.outcome,
                       std::chrono::duration<double>(executor_.now() - begin).count());
  --inFlight_;
  return std::move(answered.response);
}

GuardService::Answer GuardService::answer(Verb verb, std::string& body) {
  const ClusterFacts current = facts();
  if (!current.view) return {failure(verb, 503, kNotSynced), Outcome::kNotReady};
  BorrowedParser parser(*this);
  if (verb == Verb::kPreempt) {
    const auto args = parser->parsePreemption(body);
    return args ? preempt(*current.view, *args) : badRequest(verb, args.error());
  }
  auto args = parser->parse(body);
  if (!args) return badRequest(verb, args.error());
  if (current.devices) addDevices(*current.devices, args->pod);
  return verb == Verb::kFilter ? filter(*current.view, *args) : prioritize(*current.view, *args);
}

// kube-scheduler asks about every pod, and schedules without an answer: an error would be one that lets the
// pod pass. So pods that ask for devices are refused where they cannot be answered, and the others pass in
// any case.
GuardService::Answer GuardService::answerForDevices(std::string& body) {
  const ClusterFacts current = facts();
  BorrowedParser parser(*this);
  auto args = parser->parse(body);
  if (!args) return badRequest(Verb::kFilter, args.error());
  // The other entry asks about pods with GPUs.
  if (!core::asksForDevices(args->pod) || args->pod.shape.requests.gpus() > 0)
    return {json(codec::encodeFilterResult(args->nodeNames, {})), Outcome::kOk};
  if (!current.view) return {json(refusalOfAll(args->nodeNames, kNotSynced)), Outcome::kNotReady};
  if (current.devices) addDevices(*current.devices, args->pod);
  Answer answer = filter(*current.view, *args);
  if (answer.outcome != Outcome::kTryAgain) return answer;
  return {json(refusalOfAll(args->nodeNames, "trainyard: the gang of this pod is not known yet")),
          Outcome::kTryAgain};
}

GuardService::Answer GuardService::badRequest(Verb verb, const base::Error& error) {
  log_.warning("request cannot be read", {{"verb", toString(verb)}, {"error", error.message}});
  return {failure(verb, 400, error.message), Outcome::kBadRequest};
}

GuardService::Answer GuardService::filter(const core::GuardView& view, const codec::ExtenderArgs& args) {
  const auto decide = [&] {
    const std::lock_guard lock(holdsMutex_);
    auto decision = core::filter(view, holds_, args.pod, args.nodeNames);
    if (decision && decision->hold) {
      holds_.put(args.pod.uid, {*decision->hold, args.pod.shape.requests, executor_.now() + kHoldTime});
    } else {
      holds_.drop(args.pod.uid);
    }
    return decision;
  };
  const auto decision = decide();
  if (!decision) {
    log_.info("gang is not known yet", {{"pod", fmt::to_string(args.pod.key)},
                                        {"job", jobOf(args.pod)},
                                        {"error", decision.error().message}});
    return {json(codec::encodeFilterError(decision.error().message)), Outcome::kTryAgain};
  }
  metrics_.noteRefusals(decision->refusedBy);
  std::vector<codec::FailedNode> failed;
  failed.reserve(decision->refused.size());
  for (const core::NodeRefusal& each : decision->refused) {
    failed.push_back({each.node, each.message});
  }
  const bool refused = decision->accepted.empty() && !args.nodeNames.empty();
  logVerdict("filtered", Verb::kFilter, args.pod, args.nodeNames.size(), decision->accepted.size(),
             refused ? decision->refused.front().message : std::string_view());
  return {json(codec::encodeFilterResult(decision->accepted, failed)),
          refused ? Outcome::kRefused : Outcome::kOk};
}

GuardService::Answer GuardService::prioritize(const core::GuardView& view, const codec::ExtenderArgs& args) {
  const auto scores = [&] {
    const std::lock_guard lock(holdsMutex_);
    return core::prioritize(view, holds_, args.pod, args.nodeNames);
  }();
  return {json(codec::encodePriorities(args.nodeNames, scores)), Outcome::kOk};
}

GuardService::Answer GuardService::preempt(const core::GuardView& view, const codec::PreemptionArgs& args) {
  std::vector<core::PreemptionCandidate> candidates;
  candidates.reserve(args.candidates.size());
  for (const codec::MetaVictims& each : args.candidates) candidates.push_back({each.node, each.uids});
  const std::vector<bool> allowed = core::mayPreempt(view, args.pod, candidates);
  std::vector<codec::MetaVictims> kept;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (allowed[i]) kept.push_back(args.candidates[i]);
  }
  const bool refused = kept.empty() && !args.candidates.empty();
  logVerdict("preemption requested", Verb::kPreempt, args.pod, args.candidates.size(), kept.size(), {});
  return {json(codec::encodePreemptionResult(kept)), refused ? Outcome::kRefused : Outcome::kOk};
}

// kube-scheduler asks about a backlog of refused pods again with every event of the cluster, which is too
// much for the info level.
void GuardService::logVerdict(std::string_view message, Verb verb, const model::Pod& pod, std::size_t asked,
                              std::size_t left, std::string_view why) const {
  log_.debug(message, {{"verb", toString(verb)},
                       {"pod", fmt::to_string(pod.key)},
                       {"job", jobOf(pod)},
                       {"nodes", asked},
                       {"left", left},
                       {"why", why}});
}

void GuardService::publish(ClusterFacts facts, const std::vector<model::Uid>& settled) {
  {
    const std::lock_guard lock(viewMutex_);
    std::swap(facts_, facts);  // the old one is freed outside the lock
  }
  const std::lock_guard lock(holdsMutex_);
  for (const model::Uid& pod : settled) holds_.drop(pod);
}

void GuardService::withdraw() {
  ClusterFacts old;
  const std::lock_guard lock(viewMutex_);
  std::swap(facts_, old);
}

ClusterFacts GuardService::facts() const {
  const std::lock_guard lock(viewMutex_);
  return facts_;
}

void GuardService::expireHolds() {
  const std::lock_guard lock(holdsMutex_);
  holds_.expire(executor_.now());
}

std::size_t GuardService::holds() const {
  const std::lock_guard lock(holdsMutex_);
  return holds_.size();
}

}  // namespace trainyard::extender
