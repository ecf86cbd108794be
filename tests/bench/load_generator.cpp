// Creates objects as fast as the API server accepts them and waits until all of their pods are bound. One
// program serves both sides of a comparison, so that a ratio never compares two load generators.
//
// Prints one JSON object: seconds since the first request, and counts.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
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
#include "load_objects.h"
#include "rivals.h"

namespace {

using namespace trainyard;  // NOLINT(google-build-using-namespace): a program of its own
using bench::LoadOptions;

constexpr base::Instant::duration kPoll = std::chrono::milliseconds(5);

class Load final : public kube::ReflectorSink {
 public:
  Load(LoadOptions options, kube::ApiClient& api, base::EventLoop& loop, const base::Logger& log)
      : options_(std::move(options)),
        api_(api),
        loop_(loop),
        log_(log),
        watch_({.type = kube::kPods,
                .selectors = {{"labelSelector", fmt::format("{}={}", bench::kRunLabel, options_.run)}}},
               api, loop, base::Rng(1), log, *this),
        gang_(options_.kind == "gang"),
        text_(textOf(options_.file)),
        awaited_(awaitedPods(options_)),
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
  void listed(std::string_view) override {}
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
  [[nodiscard]] static std::string textOf(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  [[nodiscard]] static int awaitedPods(const LoadOptions& options) {
    if (options.kind == "object") return options.count * options.pods;
    return options.kind == "pods" || options.kind == "jobs" || options.kind == "gang" ? options.count : 0;
  }

  // The watch starts first, so that no binding is missed.
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
    if (options_.kind == "object") return options_.path;
    const bool pods = options_.kind == "pods" || options_.kind == "bound-pods";
    return (pods ? kube::kPods : kube::kTrainingJobs).collection(options_.ns);
  }

  [[nodiscard]] std::string bodyOf(int index) const {
    if (options_.kind == "nodes") return bench::nodeBody(options_, index);
    if (options_.kind == "bound-pods") {
      return bench::podBody(options_, index, fmt::format("n-{:05}", index / options_.perNode));
    }
    if (options_.kind == "pods") return bench::podBody(options_, index, "");
    if (options_.kind == "object")
      return bench::objectBody(options_, text_, fmt::format("{}-{:05}", options_.run, index));
    return gang_ ? bench::jobBody(options_, options_.run, options_.count)
                 : bench::jobBody(options_, fmt::format("{}-{:05}", options_.run, index), 1);
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

  const LoadOptions options_;
  kube::ApiClient& api_;
  base::EventLoop& loop_;
  const base::Logger& log_;
  kube::Reflector watch_;
  const bool gang_;
  const std::string text_;
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

int run(const LoadOptions& options) {
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
  const auto carryOut = [&loop](auto& load) {
    load.start();
    loop.run();
    return load.good() ? 0 : 1;
  };
  kube::ApiClient& api = (*connection)->api();
  if (options.kind == "rivals") {
    bench::Rivals rivals(options, api, loop, log);
    return carryOut(rivals);
  }
  Load load(options, api, loop, log);
  return carryOut(load);
}

}  // namespace

int main(int argc, char** argv) {
  LoadOptions options;
  CLI::App app{"Creates objects as fast as the API server takes them; waits until all pods are bound."};
  app.add_option("--kubeconfig", options.kubeconfig)->required();
  app.add_option("--kind", options.kind,
                 "pods; jobs: TrainingJobs of one pod; waiting-jobs: such, without waiting for pods; gang: "
                 "one TrainingJob; rivals: two of them, of which one fits; "
                 "nodes; bound-pods: on n-00000 …; object: copies of --file")
      ->check(
          CLI::IsMember({"pods", "jobs", "waiting-jobs", "gang", "rivals", "nodes", "bound-pods", "object"}))
      ->capture_default_str();
  app.add_option("--run", options.run, "prefix of names, and label of the pods")->capture_default_str();
  app.add_option("--namespace", options.ns)->capture_default_str();
  app.add_option("--count", options.count, "pods, nodes or objects in all")->check(CLI::Range(1, 1'000'000));
  app.add_option("--gpus", options.gpus, "of each pod")->check(CLI::Range(0, 1'024));
  app.add_option("--per-node", options.perNode, "bound pods on each node")->check(CLI::Range(1, 110));
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 32));
  app.add_option("--run-for", options.runFor, "how long simulated nodes run the jobs' pods, e.g. 5s");
  app.add_option("--file", options.file, "JSON of an object, with @NAME@ and @RUN@")
      ->check(CLI::ExistingFile);
  app.add_option("--path", options.path,
                 "where such objects are created: /apis/batch/v1/namespaces/default/jobs");
  app.add_option("--pods", options.pods, "of each such object")->check(CLI::Range(1, 10'000));
  app.add_option("--timeout", options.timeoutSeconds, "seconds")->check(CLI::Range(1, 3'600));
  CLI11_PARSE(app, argc, argv);
  const int code = run(options);
  std::fflush(stdout);
  // Without exit handlers: cpprestsdk's handlers stop its threads and then join them, and a thread that is
  // closing a stream waits for another one of them.
  std::_Exit(code);
}
