#include "cli/simulate.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "cli/console_config.h"
#include "cli/simulate_text.h"
#include "operator/console/tried_jobs.h"
#include "operator/simulation_json.h"
#include "sim/cluster/cluster.h"

namespace {

using namespace trainyard;
using namespace std::chrono_literals;
using Outcome = core::Forecast::Outcome;

std::string jobYaml(const std::string& name, int workers, const std::string& spec = "", int gpus = 8,
                    const std::string& runFor = "") {
  return fmt::format(R"(apiVersion: trainyard.dev/v1alpha1
kind: TrainingJob
metadata: {{name: {}}}
spec:
  framework: PyTorch
  roles:
  - name: worker
    replicas: {}
    template:
      metadata: {{annotations: {{sim.trainyard.dev/run-for: "{}"}}}}
      spec:
        containers:
        - name: train
          image: train:1
          resources: {{limits: {{nvidia.com/gpu: {}}}}}
{})",
                     name, workers, runFor, gpus, spec);
}

// The simulated cluster behind the interface of the API server.
class World final : public cli::LiveCluster {
 public:
  explicit World(int nodes) {
    auto created = sim::SimulatedCluster::create(sim::ClusterOptions{});
    if (!created) FAIL(created.error().message);
    cluster_ = std::move(*created);
    REQUIRE(cluster_->addNodes(nodes, {.nodesInRack = 2}));
    cluster_->operators().start();
    cluster_->runFor(5s);
  }

  sim::SimulatedCluster* operator->() { return cluster_.get(); }

  void submit(const std::string& yaml) {
    const auto documents = sim::SimulatedCluster::documents(yaml);
    REQUIRE(documents);
    for (const std::string& each : *documents) {
      const auto made = cluster_->create(each);
      INFO((made ? "" : made.error().message));
      REQUIRE(made);
    }
  }
  std::shared_ptr<const model::Job> job(const std::string& name) const {
    const auto snapshot = cluster_->snapshot();
    for (const auto& each : snapshot.jobs) {
      if (each->key.name == name) return each;
    }
    return nullptr;
  }
  bool waitPhase(const std::string& name, std::string_view phase, base::Instant::duration limit = 60s) {
    return cluster_->runUntilTrue([&] { return job(name) && job(name)->status.phase == phase; }, limit);
  }

  std::vector<base::Result<std::string>> get(const std::vector<std::string>& paths) override {
    std::vector<base::Result<std::string>> answers;
    for (const std::string& path : paths) answers.push_back(cluster_->request(net::Method::kGet, path));
    return answers;
  }
  base::Result<std::string> post(const std::string& path, const std::string& body,
                                 const kube::Query& query) override {
    std::string target = path;
    for (const auto& [key, value] : query)
      target += fmt::format("{}{}={}", target == path ? "?" : "&", key, value);
    return cluster_->request(net::Method::kPost, target, body);
  }
  base::Result<model::Snapshot> snapshot() override { return cluster_->snapshot(); }
  const std::string& source() const override { return source_; }
  const std::string& ns() const override { return ns_; }
  base::WallTime now() const override { return cluster_->loop().wallNow(); }

 private:
  std::unique_ptr<sim::SimulatedCluster> cluster_;
  std::string source_ = "the simulation";
  std::string ns_ = "default";
};

base::Result<cli::Simulation> trying(World& world, const std::string& yaml) {
  const auto manifests = cli::parseManifests(yaml, "job.yaml");
  if (!manifests) return base::fail(manifests.error());
  return cli::simulate(world, *manifests, {});
}

std::vector<core::Forecast> forecasts(World& world, const std::string& yaml) {
  auto simulation = trying(world, yaml);
  INFO((simulation ? "" : simulation.error().message));
  REQUIRE(simulation);
  return std::move(simulation->forecasts);
}

std::string refusal(World& world, const std::string& yaml) {
  const auto simulation = trying(world, yaml);
  return simulation ? "taken" : simulation.error().message;
}

TEST_CASE("a job that would start now starts as simulated and the simulation writes nothing") {
  World world(4);
  const std::string yaml = jobYaml("bert", 2, "  locality: {required: rack}\n");
  const auto answer = forecasts(world, yaml).front();
  CHECK(answer.outcome == Outcome::kStarts);
  CHECK(answer.level == "rack");
  CHECK(answer.stops.empty());
  world->runFor(5s);
  CHECK(world->snapshot().jobs.empty());
  CHECK(world->snapshot().pods.empty());
  world.submit(yaml);
  REQUIRE(world.waitPhase("bert", "Running"));
  CHECK(world.job("bert")->status.gang.placed->assignments == answer.assignments);
}

TEST_CASE("a job that a simulated start would preempt is preempted by the real one") {
  World world(2);
  world.submit(R"(apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
)");
  world.submit(jobYaml("low", 2));
  REQUIRE(world.waitPhase("low", "Running"));
  const std::string yaml = jobYaml("high", 1, "  priorityClassName: urgent\n");
  const auto early = forecasts(world, yaml).front();
  INFO((early.pending ? early.pending->message : ""));
  CHECK(early.outcome == Outcome::kWaits);
  REQUIRE(early.expected);
  CHECK(early.expected->stops == std::vector<model::ObjectKey>{{"default", "low"}});
  world->runFor(90s);
  const auto answer = forecasts(world, yaml).front();
  CHECK(answer.outcome == Outcome::kStarts);
  REQUIRE(answer.stops.size() == 1);
  CHECK(answer.stops[0].job->key.name == "low");
  CHECK(answer.stops[0].lostGpuSeconds >= 16 * 89);
  world.submit(yaml);
  REQUIRE(world.waitPhase("high", "Running"));
  CHECK(world.job("high")->status.gang.placed->assignments == answer.assignments);
  CHECK(world.job("low")->status.preemptions.count == 1);
}

TEST_CASE("a job that a simulated start would move is moved by the real one") {
  World world(2);
  const std::string fillers = jobYaml("one", 1, "", 6) + "---\n" + jobYaml("two", 1, "", 6);
  world.submit(fillers);
  REQUIRE(world.waitPhase("one", "Running"));
  REQUIRE(world.waitPhase("two", "Running"));
  world.submit(jobYaml("gang", 2, "  preemptible: true\n", 2));
  REQUIRE(world.waitPhase("gang", "Running"));
  for (const char* each : {"one", "two"}) {
    REQUIRE(
        world->request(net::Method::kDelete,
                       fmt::format("/apis/trainyard.dev/v1alpha1/namespaces/default/trainingjobs/{}", each)));
  }
  world->runFor(10s);
  const std::string yaml = jobYaml("whole", 1, "  estimate: {durationSeconds: 28800}\n");

  const auto early = forecasts(world, yaml).front();
  CHECK(early.outcome == Outcome::kWaits);
  REQUIRE(early.expected);
  CHECK(early.expected->moves == std::vector<model::ObjectKey>{{"default", "gang"}});
  CHECK(early.expected->stops.empty());

  world->runFor(600s);
  const auto simulation = trying(world, yaml);
  REQUIRE(simulation);
  const core::Forecast& answer = simulation->forecasts.front();
  CHECK(answer.outcome == Outcome::kStarts);
  REQUIRE(answer.stops.size() == 1);
  CHECK(answer.stops[0].job->key.name == "gang");
  const std::string there = answer.assignments.front().node.str() == "n0000" ? "node n0001" : "node n0000";
  CHECK(answer.stops[0].goesTo == there);
  CHECK(cli::simulationText(*simulation).find("restarts on " + there) != std::string::npos);
  CHECK(operator_::simulationJson(*simulation).find("\"goesTo\":\"" + there) != std::string::npos);

  world.submit(yaml);
  REQUIRE(world.waitPhase("whole", "Running"));
  CHECK(world.job("whole")->status.gang.placed->assignments == answer.assignments);
  REQUIRE(world.waitPhase("gang", "Running"));
}

TEST_CASE("a job that would be pending gets the same message and starts at the expected time") {
  World world(2);
  world.submit(
      jobYaml("running", 2, "  estimate: {durationSeconds: 100}\n  preemptible: false\n", 8, "100s"));
  REQUIRE(world.waitPhase("running", "Running"));
  const std::string yaml = jobYaml("next", 2);
  const auto answer = forecasts(world, yaml).front();
  CHECK(answer.outcome == Outcome::kWaits);
  CHECK(answer.ahead == 0);
  CHECK(answer.waiting == 1);
  REQUIRE(answer.expected);
  REQUIRE(answer.expected->after.size() == 1);
  CHECK(answer.expected->after[0].job.name == "running");
  world.submit(yaml);
  REQUIRE(world.waitPhase("next", "Queued"));
  CHECK(world.job("next")->status.pending->reason == answer.pending->reason);
  CHECK(world.job("next")->status.pending->message == answer.pending->message);
  REQUIRE(world.waitPhase("next", "Running", 200s));
  const auto& started = world.job("next")->condition("Scheduled")->lastTransition;
  CHECK(std::chrono::abs(started - answer.expected->start) <= 5s);
}

TEST_CASE("jobs of one file are simulated together in the order of the file") {
  World world(2);
  const auto answers = forecasts(
      world, jobYaml("z-one", 2, "  estimate: {durationSeconds: 60}\n") + "---\n" + jobYaml("two", 2));
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].outcome == Outcome::kStarts);
  CHECK(answers[1].outcome == Outcome::kWaits);
  CHECK(answers[1].pending->message.find("default/z-one") != std::string::npos);
  // A job that starts now ends by its estimate.
  REQUIRE(answers[1].expected);
  REQUIRE(answers[1].expected->after.size() == 1);
  CHECK(answers[1].expected->after[0].waitsNow);
}

TEST_CASE("no start is predicted behind a job without an estimate") {
  World world(2);
  world.submit(jobYaml("running", 2, "  preemptible: false\n"));
  REQUIRE(world.waitPhase("running", "Running"));
  CHECK_FALSE(forecasts(world, jobYaml("next", 2)).front().expected);
}

TEST_CASE("a job that would not be admitted gets the operator's message") {
  World world(2);
  const auto answer = forecasts(world, jobYaml("lost", 1, "  queue: nowhere\n")).front();
  CHECK(answer.outcome == Outcome::kRefused);
  CHECK(answer.pending->reason == model::PendingReason::kQueueNotFound);
  CHECK(answer.pending->message == "spec.queue: there is no Queue named \"nowhere\"");
  CHECK(forecasts(world, jobYaml("later", 1, "  run: {suspend: true}\n")).front().outcome ==
        Outcome::kSuspended);
}

TEST_CASE("unusable input is refused with file and line") {
  World world(2);
  CHECK(refusal(world, "a: [1\n").substr(0, 9) == "job.yaml:");
  CHECK(refusal(world, "") == "the files hold no TrainingJob, and only TrainingJobs can be tried");
  CHECK(refusal(world, "\n- a\n").substr(0, 38) == "job.yaml:2: is not a Kubernetes object");
  CHECK(refusal(world, "apiVersion: v1\nkind: TrainingJob\n") == "job.yaml:1: metadata.name: is required");
  CHECK(refusal(world, "# the first\n---\n" + jobYaml("none", 0)).substr(0, 13) == "job.yaml:10: ");
  // The number is read as kubectl reads it, and is not a bool.
  CHECK(refusal(world, jobYaml("odd", 1, "  preemptible: 010\n"))
            .find("job.yaml:16: TrainingJob.trainyard.dev \"odd\" is invalid: [spec.preemptible: ") == 0);
  CHECK(refusal(world, jobYaml("odd", 1, "  colour: red\n")).substr(0, 13) == "job.yaml:16: ");
  world.submit(jobYaml("there", 1));
  CHECK(refusal(world, jobYaml("there", 1))
            .find("job.yaml:3: metadata.name: TrainingJob default/there exists") == 0);
  CHECK(refusal(world, jobYaml("one", 1) + "---\n" + jobYaml("one", 1)) ==
        "job.yaml:19: metadata.name: default/one occurs twice");
}

TEST_CASE("the answer of a simulation is readable as text and as JSON") {
  World world(2);
  auto simulation =
      trying(world, jobYaml("bert", 2, "  estimate: {durationSeconds: 60}\n") + "---\n" + jobYaml("next", 1) +
                        "---\n{apiVersion: v1, kind: Secret, metadata: {name: s}}\n");
  REQUIRE(simulation);
  const std::string text = cli::simulationText(*simulation);
  CAPTURE(text);
  CHECK(text.find("default/bert would start now on 2 nodes in rack z0/b0/r0.\n"
                  "  NODE    MEMBERS\n"
                  "  n0000   worker 0\n"
                  "  n0001   worker 1\n") != std::string::npos);
  CHECK(text.find("default/next would wait: WaitingForCapacity.\n") != std::string::npos);
  CHECK(text.find("when default/bert (which waits now, about ") != std::string::npos);
  CHECK(text.find("Secret s is ignored: only TrainingJobs can be tried") != std::string::npos);
  const std::string json = operator_::simulationJson(*simulation);
  CAPTURE(json);
  CHECK(json.find(R"("name":"bert","queue":"default","outcome":"Starts")") != std::string::npos);
  CHECK(json.find(R"("expectedStart":{"time":)") != std::string::npos);
}

// The operator's console with the permissions of an administrator.
class Console final : public cli::LiveCluster {
 public:
  explicit Console(World& world) : world_(world) {}

  base::Result<std::string> post(const std::string& path, const std::string& body,
                                 const kube::Query&) override {
    CHECK(path == "/api/simulate");
    if (refusal) return base::fail(*refusal);
    core::CycleInput input;
    input.snapshot = *world_.snapshot();
    auto jobs = operator_::console::readTriedJobs(body, input);
    if (!jobs) return base::fail(jobs.error());
    operator_::Simulation simulation{.now = input.snapshot.now, .policy = "the operator"};
    simulation.forecasts = operator_::tryJobs(std::move(input), std::move(*jobs));
    return operator_::simulationJson(simulation);
  }
  std::vector<base::Result<std::string>> get(const std::vector<std::string>&) override { return {}; }
  base::Result<model::Snapshot> snapshot() override {
    return base::fail(base::ErrorCode::kUnsupported, "not of a console");
  }
  const std::string& source() const override { return source_; }
  const std::string& ns() const override { return world_.ns(); }
  base::WallTime now() const override { return world_.now(); }

  std::optional<base::Error> refusal;

 private:
  World& world_;
  std::string source_ = "console https://console";
};

TEST_CASE("the answer through the console equals that of the command alone") {
  World world(2);
  world.submit(
      jobYaml("running", 1, "  estimate: {durationSeconds: 100}\n  preemptible: false\n", 8, "100s"));
  REQUIRE(world.waitPhase("running", "Running"));
  Console console(world);
  const auto manifests = cli::parseManifests(
      jobYaml("now", 1) + "---\n" + jobYaml("later", 2, "  estimate: {durationSeconds: 50}\n") + "---\n" +
          jobYaml("lost", 1, "  queue: nowhere\n") + "---\n" +
          jobYaml("others", 1, "  managedBy: example.com/other\n") + "---\n" +
          jobYaml("asleep", 1, "  run: {suspend: true}\n") +
          "---\n{apiVersion: v1, kind: Secret, metadata: {name: s}}\n",
      "job.yaml");
  REQUIRE(manifests);
  auto here = cli::simulate(world, *manifests, {});
  auto there = cli::simulateByConsole(world, console, *manifests, "");
  REQUIRE(here);
  INFO((there ? "" : there.error().message));
  REQUIRE(there);
  CHECK(there->policy == "the operator (console https://console)");
  there->policy = here->policy;
  CHECK(cli::simulationText(*there) == cli::simulationText(*here));
  CHECK(operator_::simulationJson(*there) == operator_::simulationJson(*here));
  console.refusal =
      base::Error{base::ErrorCode::kForbidden, "POST /api/simulate: 403 Forbidden: not there", "Forbidden"};
  there = cli::simulateByConsole(world, console, *manifests, "");
  REQUIRE_FALSE(there);
  CHECK(there.error().message == "not there (console https://console)");
}

TEST_CASE("a console gets only the user's token and only over an encrypted or local connection") {
  const auto none = [](const std::string&) { return std::string(); };
  kube::ConnectionConfig user{.source = "kubeconfig k, context c", .server = "https://api:6443"};
  const auto refused = [&](const std::string& url) {
    const auto config = cli::consoleConfig(user, {.url = url}, none);
    return config ? "taken: " + config->server + config->pathPrefix : config.error().message;
  };
  CHECK(refused("https://console").find("kubeconfig k, context c has none") != std::string::npos);
  user.authorization = "Basic abc";
  CHECK(refused("https://console").find("needs a bearer token") != std::string::npos);
  user.authorization = "Bearer abc";
  user.tls.certificatePem = "mine";
  CHECK(refused("https://console/trainyard") == "taken: https://console/trainyard");
  for (const char* url : {"http://localhost:8090", "http://127.0.0.1:8090", "http://[::1]:8090"})
    CHECK(refused(url) == std::string("taken: ") + url);
  for (const char* url : {"http://console:8090", "http://localhost.evil.com", "http://[fd00::1]:8090"})
    CHECK(refused(url).find("in the clear") != std::string::npos);
  CHECK(refused("console") == R"(--console: "console" must begin with https:// or http://)");
  const auto config = cli::consoleConfig(user, {.url = "https://console"}, none);
  REQUIRE(config);
  CHECK(config->authorization == "Bearer abc");
  CHECK(config->tls.certificatePem.empty());
  CHECK(cli::consoleConfig(user, {.url = "https://console", .caFile = "/nowhere"}, none)
            .error()
            .message.find("--console-ca: /nowhere") == 0);
  user.headers.emplace_back("Impersonate-User", "eve");
  CHECK(refused("https://console").find("cannot impersonate another user") != std::string::npos);
}

}  // namespace
