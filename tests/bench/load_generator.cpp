// Creates objects as fast as the API server takes them and waits until every pod of theirs is bound. One
// program for both sides of a comparison, so that a ratio never speaks of two loaders.
//
// Prints one JSON object: seconds from the first request on, and counts.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/event_loop.h"
#include "codec/pod.h"
#include "kube/config.h"
#include "kube/connection.h"
#include "kube/reflector.h"

namespace {

using namespace trainyard;  // NOLINT(google-build-using-namespace): a program of its own

constexpr std::string_view kRunLabel = "bench.trainyard.dev/run";
constexpr base::Instant::duration kPoll = std::chrono::milliseconds(5);

struct Options {
  std::string kubeconfig;
  std::string kind = "pods";
  std::string run = "run";
  std::string ns = "default";
  int count = 1;
  int gpus = 1;
  int perNode = 4;  // of bound-pods
  int connections = 32;
  int timeoutSeconds = 300;
  std::string runFor;  // of jobs' pods on simulated nodes; empty: until they are deleted
};

std::string podSpec(const Options& options, const std::string& node) {
  // Pods of a node that nobody has called ready yet are welcome there: only the comparison with 5,000 nodes
  // has such ones.
  return fmt::format(
      R"({{{}"restartPolicy":"Never","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoSchedule"}}],)"
      R"("containers":[{{"name":"train","image":"registry.example.com/train:1","command":["python","train.py"],)"
      R"("env":[{{"name":"NCCL_DEBUG","value":"WARN"}},{{"name":"OMP_NUM_THREADS","value":"8"}}],)"
      R"("resources":{{"requests":{{"cpu":"1","memory":"4Gi"}},"limits":{{"nvidia.com/gpu":{}}}}}}}]}})",
      node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node), options.gpus);
}

std::string pod(const Options& options, int index, const std::string& node) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}-{1:05}","labels":{{"{2}":"{0}"}}}},"spec":{3}}})",
      options.run, index, kRunLabel, podSpec(options, node));
}

std::string job(const Options& options, const std::string& name, int replicas) {
  return fmt::format(
      R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{{"name":"{}"}},)"
      R"("spec":{{"framework":"Custom","roles":[{{"name":"worker","replicas":{},"template":)"
      R"({{"metadata":{{"labels":{{"{}":"{}"}}{}}},"spec":{}}}}}]}}}})",
      name, replicas, kRunLabel, options.run,
      options.runFor.empty()
          ? ""
          : fmt::format(R"(,"annotations":{{"sim.trainyard.dev/run-for":"{}"}})", options.runFor),
      podSpec(options, ""));
}

// As a kubelet would keep it, with 8 GPUs; the places in the network follow from the index.
std::string node(const Options& options, int index) {
  constexpr std::string_view kAmounts =
      R"({"cpu":"96","memory":"1Ti","pods":"110","nvidia.com/gpu":"8","ephemeral-storage":"1Ti"})";
  const int rack = index / 10;
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}-{1:05}","labels":{{"kubernetes.io/hostname":"{0}-{1:05}",)"
      R"("kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3",)"
      R"("topology.kubernetes.io/zone":"z{2}","cloud.provider.com/topology-block":"b{3}","cloud.provider.com/topology-rack":"r{4}"}}}},)"
      R"("status":{{"allocatable":{5},"capacity":{5},"conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady",)"
      R"("message":"ready","lastHeartbeatTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}}]}}}})",
      options.run, index, rack / 125, rack / 5, rack, kAmounts);
}

class Load final : public kube::ReflectorSink {
 public:
  Load(Options options, kube::ApiClient& api, base::EventLoop& loop, const base::Logger& log)
      : options_(std::move(options)),
        api_(api),
        loop_(loop),
        log_(log),
        watch_({.type = kube::kPods,
                .selectors = {{"labelSelector", fmt::format("{}={}", kRunLabel, options_.run)}}},
               api, loop, base::Rng(1), log, *this),
        gang_(options_.kind == "gang"),
        awaited_(options_.kind == "pods" || options_.kind == "jobs" || gang_ ? options_.count : 0),
        toCreate_(gang_ ? 1 : options_.count) {}

  void start() {
    loop_.postAfter(std::chrono::seconds(options_.timeoutSeconds), [this] { giveUp("took too long"); });
    if (awaited_ == 0) return begin();
    watch_.start();
    awaitWatch();
  }
  [[nodiscard]] bool good() const { return good_; }

  void page(const std::vector<std::string>& objects, bool) override {
    for (const std::string& object : objects) upsert(object);
  }
  void listed() override {}
  void upsert(std::string_view object) override {
    const auto pod = codec::decodePod(object);
    if (!pod || !pod->bound() || !bound_.insert(pod->key.name).second) return;
    const double now = elapsed();
    if (bound_.size() == 1) firstBound_ = now;
    lastBound_ = now;
    endIfDone();
  }
  void remove(std::string_view) override {}

 private:
  // The watch comes first, lest a pod be bound before anybody looks.
  void awaitWatch() {
    if (watch_.synced()) return begin();
    loop_.postAfter(kPoll, [this] { awaitWatch(); });
  }

  void begin() {
    began_ = loop_.now();
    for (int i = 0; i < 2 * options_.connections && next_ < toCreate_; ++i) createNext();
  }

  void createNext() {
    const int index = next_++;
    api_.create(pathOf(), bodyOf(index), [this](const base::Result<kube::ApiResponse>& answer) {
      if (!answer) return giveUp(answer.error().message);
      ++created_;
      lastCreated_ = elapsed();
      if (next_ < toCreate_) createNext();
      endIfDone();
    });
  }

  [[nodiscard]] std::string pathOf() const {
    if (options_.kind == "nodes") return kube::kNodes.collection();
    const bool pods = options_.kind == "pods" || options_.kind == "bound-pods";
    return (pods ? kube::kPods : kube::kTrainingJobs).collection(options_.ns);
  }

  [[nodiscard]] std::string bodyOf(int index) const {
    if (options_.kind == "nodes") return node(options_, index);
    if (options_.kind == "bound-pods") {
      return pod(options_, index, fmt::format("n-{:05}", index / options_.perNode));
    }
    if (options_.kind == "pods") return pod(options_, index, "");
    return gang_ ? job(options_, options_.run, options_.count)
                 : job(options_, fmt::format("{}-{:05}", options_.run, index), 1);
  }

  void endIfDone() {
    if (created_ < toCreate_ || static_cast<int>(bound_.size()) < awaited_) return;
    good_ = true;
    fmt::print(
        R"({{"created":{},"createdSeconds":{:.3f},"bound":{},"firstBoundSeconds":{:.3f},"boundSeconds":{:.3f}}})"
        "\n",
        created_, lastCreated_, bound_.size(), firstBound_, lastBound_);
    loop_.stop();
  }

  void giveUp(const std::string& why) {
    log_.error("giving up", {{"why", why},
                             {"created", static_cast<std::int64_t>(created_)},
                             {"bound", static_cast<std::int64_t>(bound_.size())}});
    loop_.stop();
  }

  [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(loop_.now() - began_).count(); }

  const Options options_;
  kube::ApiClient& api_;
  base::EventLoop& loop_;
  const base::Logger& log_;
  kube::Reflector watch_;
  const bool gang_;
  const int awaited_;
  const int toCreate_;

  base::Instant began_{};
  int next_ = 0;
  int created_ = 0;
  std::unordered_set<std::string> bound_;
  double lastCreated_ = 0;
  double firstBound_ = 0;
  double lastBound_ = 0;
  bool good_ = false;
};

int run(const Options& options) {
  const auto sink = base::makeStderrSink();
  const base::Logger log(*sink, base::LogLevel::kWarning, "load-generator");
  const auto config = kube::loadConnectionConfig({.kubeconfig = options.kubeconfig});
  if (!config) {
    log.error("no API server", {{"error", config.error().message}});
    return 1;
  }
  base::EventLoop loop;
  auto connection = kube::makeApiClient(*config, loop, base::Rng(base::entropySeed()), log,
                                        {.userAgent = "trainyard-load-generator",
                                         .rateLimit = {.perSecond = 0},
                                         .threads = static_cast<std::size_t>(options.connections)});
  if (!connection) {
    log.error("no API server", {{"error", connection.error().message}});
    return 1;
  }
  Load load(options, (*connection)->api(), loop, log);
  load.start();
  loop.run();
  return load.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Creates objects as fast as the API server takes them; waits until all pods are bound."};
  app.add_option("--kubeconfig", options.kubeconfig)->required();
  app.add_option("--kind", options.kind,
                 "pods; jobs: TrainingJobs of one pod; waiting-jobs: such, without waiting for pods; gang: "
                 "one TrainingJob; "
                 "nodes; bound-pods: on n-00000 …")
      ->check(CLI::IsMember({"pods", "jobs", "waiting-jobs", "gang", "nodes", "bound-pods"}))
      ->capture_default_str();
  app.add_option("--run", options.run, "prefix of names, and label of the pods")->capture_default_str();
  app.add_option("--namespace", options.ns)->capture_default_str();
  app.add_option("--count", options.count, "pods or nodes in all")->check(CLI::Range(1, 1'000'000));
  app.add_option("--gpus", options.gpus, "of each pod")->check(CLI::Range(0, 1'024));
  app.add_option("--per-node", options.perNode, "bound pods on each node")->check(CLI::Range(1, 110));
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 32));
  app.add_option("--run-for", options.runFor, "how long simulated nodes run the jobs' pods, e.g. 5s");
  app.add_option("--timeout", options.timeoutSeconds, "seconds")->check(CLI::Range(1, 3'600));
  CLI11_PARSE(app, argc, argv);
  const int code = run(options);
  std::fflush(stdout);
  // Not by way of the exit handlers: cpprestsdk's stop its threads first and then wait for them, and one that
  // is just closing a stream waits for another of them.
  std::_Exit(code);
}
