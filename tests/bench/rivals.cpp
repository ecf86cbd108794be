#include "rivals.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "codec/pod.h"

namespace trainyard::bench {
namespace {

constexpr base::Instant::duration kPoll = std::chrono::milliseconds(5);

std::array<std::string, 2> namesOf(const LoadOptions& options) {
  return {options.run + "-a", options.run + "-b"};
}

}  // namespace

Rivals::Rivals(LoadOptions options, kube::ApiClient& api, base::EventLoop& loop, const base::Logger& log)
    : options_(std::move(options)),
      api_(api),
      loop_(loop),
      log_(log),
      watch_({.type = kube::kPods,
              .selectors = {{"labelSelector", fmt::format("{}={}", kRunLabel, options_.run)}}},
             api, loop, base::Rng(1), log, *this) {}

void Rivals::start() {
  loop_.postAfter(std::chrono::seconds(options_.timeoutSeconds), [this] { giveUp("took too long"); });
  watch_.start();
  awaitWatch();
}

void Rivals::page(const std::vector<std::string>& objects, bool) {
  for (const std::string& object : objects) upsert(object);
}

void Rivals::upsert(std::string_view object) {
  const auto pod = codec::decodePod(object);
  if (!pod || !pod->bound() || !pod->member) return;
  const std::string& job = pod->member->jobName;
  auto& bound = bound_[job];
  if (!bound.insert(pod->key.name).second || static_cast<int>(bound.size()) < options_.count) return;
  if (winner_.empty()) {
    winner_ = job;
    firstSeconds_ = elapsed();
    return deleteWinner();
  }
  if (job != winner_) end();
}

void Rivals::remove(std::string_view object) {
  const auto pod = codec::decodePod(object);
  if (!pod || !pod->member) return;
  auto& bound = bound_[pod->member->jobName];
  bound.erase(pod->key.name);
  if (bound.empty() && pod->member->jobName == winner_) goneSeconds_ = elapsed();
}

// The watch starts first, so that no binding is missed.
void Rivals::awaitWatch() {
  if (watch_.synced()) return begin();
  loop_.postAfter(kPoll, [this] { awaitWatch(); });
}

void Rivals::begin() {
  began_ = loop_.now();
  for (const std::string& name : namesOf(options_)) {
    api_.create(kube::kTrainingJobs.collection(options_.ns), jobBody(options_, name, options_.count),
                [this](const base::Result<kube::ApiResponse>& answer) {
                  if (!answer) giveUp(answer.error().message);
                });
  }
}

void Rivals::deleteWinner() {
  const auto holds = [](const auto& job) { return !job.second.empty(); };
  if (std::count_if(bound_.begin(), bound_.end(), holds) > 1)
    return giveUp("pods of both are bound, and both do not fit");
  began_ = loop_.now();
  api_.remove(kube::kTrainingJobs.object(options_.ns, winner_), {},
              [this](const base::Result<kube::ApiResponse>& answer) {
                if (!answer) giveUp(answer.error().message);
              });
}

void Rivals::end() {
  if (!bound_[winner_].empty()) return giveUp("the other one is whole beside the first one's pods");
  good_ = true;
  fmt::print(R"({{"firstSeconds":{:.3f},"goneSeconds":{:.3f},"otherSeconds":{:.3f}}})"
             "\n",
             firstSeconds_, goneSeconds_, elapsed());
  loop_.stop();
}

void Rivals::giveUp(const std::string& why) {
  log_.error("giving up", {{"why", why}});
  loop_.stop();
}

double Rivals::elapsed() const { return std::chrono::duration<double>(loop_.now() - began_).count(); }

}  // namespace trainyard::bench
