#include "agent/pod_watch.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codec/traffic_pod.h"
#include "model/names.h"

namespace trainyard::agent {
namespace {

constexpr std::chrono::milliseconds kSyncPoll{50};
constexpr std::chrono::milliseconds kGatherPods{100};

kube::ReflectorOptions podsOf(const std::string& node) {
  return {.type = kube::kPods,
          .selectors = {{"fieldSelector", "spec.nodeName=" + node},
                        {"labelSelector", std::string(model::names::kJobUidLabel)}},
          .pageSize = 50,
          .pageBytes = std::size_t{2} << 20};
}

}  // namespace

PodWatch::PodWatch(const std::string& node, kube::ApiClient& api, base::Executor& executor, base::Rng rng,
                   const base::Logger& log, std::function<void(NodeTraffic)> changed)
    : executor_(executor),
      log_(log),
      changed_(std::move(changed)),
      pods_(codec::decodeTrafficPod, log),
      reflector_(podsOf(node), api, executor, rng, log, pods_) {
  pods_.onChange([this](const auto&, const auto&) { gather(); });
}

void PodWatch::start() {
  reflector_.start();
  awaitSync();
}

void PodWatch::stop() {
  stopped_ = true;
  reflector_.stop();
}

std::optional<base::Instant> PodWatch::lastHeard() const {
  return reflector_.synced() ? std::optional(reflector_.lastHeard()) : std::nullopt;
}

// A restarted agent keeps the classes that it finds until the pods are listed.
void PodWatch::awaitSync() {
  if (!reflector_.synced()) {
    executor_.postAfter(kSyncPoll, [this] { awaitSync(); });
    return;
  }
  synced_ = true;
  log_.info("pods are listed", {{"pods", fmt::to_string(pods_.size())}});
  report();
}

void PodWatch::gather() {
  if (!synced_ || std::exchange(gathering_, true)) return;
  executor_.postAfter(kGatherPods, [this] { report(); });
}

void PodWatch::report() {
  gathering_ = false;
  if (stopped_) return;
  std::vector<std::shared_ptr<const model::TrafficPod>> pods;
  for (const auto& pod : pods_.all()) pods.push_back(pod);
  changed_(nodeTraffic(pods));
}

}  // namespace trainyard::agent
