#include "lab.h"

#include <cstdlib>

#include <fmt/format.h>
#include <catch2/catch.hpp>

namespace trainyard::test {
namespace {

constexpr const char* kJobs = "/apis/trainyard.dev/v1alpha1/namespaces/default/trainingjobs";

std::string annotations(const std::string& runFor, int exitCode, const std::string& log = {},
                        const std::string& leaveFor = {}) {
  const std::string leaves = fmt::format(R"("sim.trainyard.dev/leave-for":"{}")", leaveFor);
  if (runFor.empty()) return fmt::format("{{{}}}", leaves);
  return fmt::format(
      R"({{{},"sim.trainyard.dev/run-for":"{}","sim.trainyard.dev/exit-code":"{}","sim.trainyard.dev/log":"{}"}})",
      leaves, runFor, exitCode, log);
}

std::string podSpec(int gpus) {
  const std::string limits = gpus > 0 ? fmt::format(R"("limits":{{"nvidia.com/gpu":"{}"}},)", gpus) : "";
  return fmt::format(
      R"({{"containers":[{{"name":"train","image":"train:1","resources":{{{}"requests":{{"cpu":"2","memory":"8Gi"}}}}}}]}})",
      limits);
}

}  // namespace

Lab::Lab(sim::ClusterOptions options, int nodes, const sim::NodeShape& shape) {
  if (const char* level = std::getenv("TRAINYARD_SIM_LOG"); level != nullptr) {
    log_ = base::makeStderrSink();
    options.log = log_.get();
    options.logLevel = base::parseLogLevel(level).value_or(base::LogLevel::kInfo);
  }
  auto created = sim::SimulatedCluster::create(options);
  if (!created) FAIL(created.error().message);
  cluster_ = std::move(*created);
  if (const auto added = cluster_->addNodes(nodes, shape); !added) FAIL(added.error().message);
  cluster_->runFor(1s);
}

void Lab::submit(const std::string& name, const GangSpec& spec) {
  const std::string json = fmt::format(
      R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{{"name":"{}"}},"spec":{{"framework":"PyTorch",)"
      R"("roles":[{{"name":"worker","replicas":{},"template":{{"metadata":{{"annotations":{}}},"spec":{}}}}}]{}{}}}}})",
      name, spec.workers, annotations(spec.runFor, spec.exitCode, spec.log, spec.leaveFor),
      podSpec(spec.gpus), spec.extra.empty() ? "" : ",", spec.extra);
  const auto made = cluster_->create(json);
  if (!made) FAIL(made.error().message);
}

bool Lab::foreignPod(const std::string& name, int gpus, const std::string& runFor, const std::string& node) {
  std::string spec = podSpec(gpus);
  if (!node.empty()) spec.insert(1, fmt::format(R"("nodeName":"{}",)", node));
  return cluster_
      ->create(fmt::format(
          R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","annotations":{}}},"spec":{}}})", name,
          annotations(runFor, 0), spec))
      .has_value();
}

void Lab::deleteJob(const std::string& name) {
  const auto done = cluster_->request(net::Method::kDelete, fmt::format("{}/{}", kJobs, name));
  if (!done) FAIL(done.error().message);
}

void Lab::deletePod(const std::string& name) {
  (void)cluster_->request(net::Method::kDelete, "/api/v1/namespaces/default/pods/" + name);
}

void Lab::patchJob(const std::string& name, const std::string& mergePatch) {
  const auto done = cluster_->request(net::Method::kPatch, fmt::format("{}/{}", kJobs, name), mergePatch,
                                      "application/merge-patch+json");
  if (!done) FAIL(done.error().message);
}

std::shared_ptr<const model::Job> Lab::job(const std::string& name) const {
  return cluster_->observer().cache().jobs.find({"default", name});
}

std::string Lab::phase(const std::string& name) const {
  const auto found = job(name);
  return found ? found->status.phase : "";
}

std::vector<std::shared_ptr<const model::Pod>> Lab::podsOf(const std::string& name) const {
  std::vector<std::shared_ptr<const model::Pod>> pods;
  for (const auto& pod : cluster_->observer().cache().pods.all()) {
    if (pod->member && pod->member->jobName == name) pods.push_back(pod);
  }
  return pods;
}

std::size_t Lab::boundPodsOf(const std::string& name) const {
  std::size_t bound = 0;
  for (const auto& pod : podsOf(name)) bound += pod->bound() ? 1 : 0;
  return bound;
}

bool Lab::exists(const std::string& path) { return cluster_->request(net::Method::kGet, path).has_value(); }

bool Lab::until(const std::function<bool()>& done, base::Instant::duration limit) {
  const bool came = cluster_->runUntilTrue(done, limit);
  if (!came) UNSCOPED_INFO(describe());
  return came;
}

bool Lab::waitPhase(const std::string& name, std::string_view phase, base::Instant::duration limit) {
  return until([&] { return this->phase(name) == phase; }, limit);
}

bool Lab::waitGone(const std::string& name, base::Instant::duration limit) {
  return until([&] { return job(name) == nullptr && podsOf(name).empty(); }, limit);
}

void Lab::requireSound() {
  std::string text;
  for (const std::string& each : cluster_->invariants().violations()) text += each + "\n";
  INFO(describe());
  CHECK(text == "");
}

void Lab::requireTidy() {
  std::string text;
  for (const std::string& each : cluster_->invariants().leftovers()) text += each + "\n";
  INFO(describe());
  CHECK(text == "");
}

std::string Lab::describe() const {
  std::string text;
  const auto& cache = cluster_->observer().cache();
  for (const auto& job : cache.jobs.all()) {
    const auto& gang = job->status.gang;
    text += fmt::format("job {}: {}{}{}{}", job->key, job->status.phase, job->deleting ? ", deleting" : "",
                        gang.placed ? fmt::format(", placed in epoch {}", gang.placed->epoch) : "",
                        gang.proposal ? fmt::format(", proposal of epoch {} {}", gang.proposal->epoch,
                                                    gang.proposal->abortReason)
                                      : "");
    if (gang.backoff) text += fmt::format(", back-off {}: {}", gang.backoff->count, gang.backoff->reason);
    if (job->status.pending) text += fmt::format(", waits: {}", job->status.pending->message);
    text += "\n";
  }
  for (const auto& pod : cache.pods.all()) {
    text += fmt::format("pod {} on \"{}\"{}{} phase {} {} {}\n", pod->key, pod->node,
                        pod->gangGated ? " gated" : "", pod->terminating ? " terminating" : "",
                        static_cast<int>(pod->phase), pod->statusReason, pod->unschedulableMessage);
  }
  return text;
}

}  // namespace trainyard::test
