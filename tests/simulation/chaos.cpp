#include "simulation/chaos.h"

#include <fmt/format.h>

#include "simulation/protocol_step.h"

namespace trainyard::simulation {

void Chaos::attach(World world, const kube::ClusterCache& truth, ProtocolLaws& laws) {
  world_ = std::make_unique<World>(std::move(world));
  truth_ = &truth;
  laws_ = &laws;
}

std::chrono::microseconds Chaos::span(int lowMs, int highMs) {
  return std::chrono::milliseconds(rng_.between(lowMs, highMs));
}

Step Chaos::stepOf(const net::HttpRequest& request) {
  if (request.method != net::Method::kGet) return simulation::stepOf(request, *truth_);
  const auto [at, added] = readSteps_.try_emplace(request.target, Step::kOther);
  if (added) at->second = simulation::stepOf(request, *truth_);
  return at->second;
}

bool Chaos::affordable(Fault fault) const {
  if (fault == Fault::kCrashBefore || fault == Fault::kCrashAfter) return odds_.crashes > 0;
  return fault != Fault::kPause || odds_.pauses > 0;
}

namespace {

// A broken watch is restarted after at most 1.6 s, the second one in a row after 3.2.
constexpr std::chrono::seconds kWatchAgain{4};

// A crash after the answer affects a watch only with its first line.
bool ofLines(Fault fault, Step step) {
  return static_cast<int>(fault) >= kRequestFaults || (isWatch(step) && fault == Fault::kCrashAfter);
}

}  // namespace

// Returns the fault that is planned for this call, if its turn has come.
std::optional<Fault> Chaos::target(Step step, bool line) {
  std::optional<Fault> met;
  std::erase_if(targets_, [&](FaultTarget& each) {
    if (met || each.step != step || ofLines(each.fault, step) != line || --each.occurrence > 0) return false;
    met = each.fault;
    return true;
  });
  return met;
}

std::optional<Fault> Chaos::draw(Step step, bool line) {
  if (!active_) return std::nullopt;
  if (const auto fault = target(step, line)) return fault;
  for (int i = 0; i < kFaults; ++i) {
    const Fault fault = static_cast<Fault>(i);
    if (!applies(fault, step) || ofLines(fault, step) != line) continue;
    const int odds = odds_.perMille[static_cast<std::size_t>(i)];
    if (odds > 0 && rng_.chance(static_cast<std::uint64_t>(odds), 1000) && affordable(fault)) return fault;
  }
  return std::nullopt;
}

void Chaos::crash(const std::string& client) {
  --odds_.crashes;
  dead_.insert(client);
  world_->kill(client);
}

sim::RequestFault Chaos::apply(Fault fault, const sim::FaultPoint& point) {
  sim::RequestFault result;
  const auto answer = [&](int status) {
    result.kind = sim::RequestFault::Kind::kAnswer;
    result.answer = sim::refusal(status);
  };
  switch (fault) {
    case Fault::kCrashBefore:
      crash(point.client);
      result.kind = sim::RequestFault::Kind::kLoseRequest;
      break;
    case Fault::kCrashAfter: crashAfter_.insert(point.client); break;
    case Fault::kLoseRequest: result.kind = sim::RequestFault::Kind::kLoseRequest; break;
    case Fault::kLoseReply: result.kind = sim::RequestFault::Kind::kLoseReply; break;
    case Fault::kDelay:
      result.delayBefore = span(0, 2'000);
      result.delayAfter = span(0, 2'000);
      break;
    case Fault::kStall: result.delayBefore = span(10'000, 25'000); break;
    case Fault::kConflict: answer(409); break;
    case Fault::kExpired: answer(410); break;
    case Fault::kThrottled: answer(429); break;
    case Fault::kServerError: answer(500); break;
    case Fault::kPause: {
      --odds_.pauses;
      const auto pause = span(1'000, 25'000);
      // Half of them pause between the check of the lease and the sending.
      if (rng_.chance(1, 2)) result.delayBefore = pause;
      world_->pause(point.client, pause);
      break;
    }
    case Fault::kDropWatch:
    case Fault::kDelayLine: break;
  }
  return result;
}

sim::RequestFault Chaos::beforeRequest(const sim::FaultPoint& point) {
  sim::RequestFault lost;
  lost.kind = sim::RequestFault::Kind::kLoseRequest;
  if (dead_.contains(point.client)) return lost;
  const net::HttpRequest& request = *point.request;
  const Step step = stepOf(request);
  hits_.addCall(step);
  const auto fault = draw(step, false);
  const std::string what =
      fault ? fmt::format("{} [{}]", toString(step), toString(*fault)) : std::string(toString(step));
  trace_.add(world_->loop.now(), point.client, what, request.target + " " + request.body);
  laws_->sends(point.client, step, request);
  if (!fault) return {};
  hits_.add(*fault, step);
  sim::RequestFault result = apply(*fault, point);
  if (result.delayBefore.count() > 0) laws_->comesLate(step, request);
  return result;
}

bool Chaos::loseReply(const sim::FaultPoint& point, const net::HttpResponse& response) {
  laws_->answered(*point.request, response);
  if (crashAfter_.erase(point.client) == 0) return false;
  crash(point.client);
  return true;
}

sim::StreamFault Chaos::beforeLine(const sim::FaultPoint& point, const std::string&) {
  if (!active_ || dead_.contains(point.client)) return {};
  const Step step = stepOf(*point.request);
  const auto fault = draw(step, true);
  if (!fault) return {};
  hits_.add(*fault, step);
  trace_.add(world_->loop.now(), point.client, toString(*fault), toString(step));
  sim::StreamFault result;
  if (*fault == Fault::kDelayLine) {
    result.delay = span(20, 4'000);
    laws_->lateFor(result.delay);
  }
  if (*fault != Fault::kDelayLine) {
    result.reset = true;
    if (step == Step::kWatchPods) laws_->lateFor(kWatchAgain);
  }
  if (*fault == Fault::kCrashAfter) crash(point.client);
  return result;
}

}  // namespace trainyard::simulation
