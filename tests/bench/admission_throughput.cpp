// Measures how many queued jobs per second the operator admits, in one process on virtual time: the real
// operator with the in-memory API server, kube-scheduler and kubelets. The jobs are those of Kueue's baseline
// performance test (test/performance/scheduler/configs/baseline/generator.yaml): 5 cohorts of 6 queues of 500
// jobs, small, medium and large; each queue has 20 cpus of its own and what the cohort does not use.
//
// --cycles-only runs the operator's cycles alone and applies their plans at once to the snapshot, every 50 ms
// of the clock: Kueue's own test has neither pods nor a scheduler nor kubelets. The whole cluster is slower
// with more objects in its API server, so it is measured with fewer jobs.
//
// Prints one JSON object: seconds of wall time and of the cluster's clock, and the waiting times by class.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/cycle/cycle.h"
#include "model/conditions.h"
#include "model/set_condition.h"
#include "sim/cluster/cluster.h"
#include "support/builders.h"

namespace {

using namespace trainyard;  // NOLINT(google-build-using-namespace): a program of its own
using namespace std::chrono_literals;

struct JobClass {
  std::string_view name;
  int share = 0;  // of 500
  int cpus = 0;
  std::chrono::milliseconds runs{};
  std::chrono::milliseconds every{};
  int priority = 0;
};
constexpr JobClass kClasses[] = {{"small", 350, 1, 200ms, 100ms, 50},
                                 {"medium", 100, 5, 500ms, 500ms, 100},
                                 {"large", 50, 20, 1000ms, 1200ms, 200}};
constexpr int kShares = 500;
constexpr int kQuota = 20;
constexpr int kBorrowing = 100;
constexpr int kLook = 100;  // ms of the cluster's clock between two checks of admissions

constexpr auto kTick = 50ms;  // of --cycles-only

struct Options {
  bool cyclesOnly = false;
  int cohorts = 5;
  int queues = 6;
  int jobs = 500;  // of each queue
};

struct Arrival {
  std::chrono::milliseconds at{};
  std::string queue;
  const JobClass* kind = nullptr;
  int number = 0;
};

std::string queueName(int cohort, int queue) { return fmt::format("queue-{}-{}", cohort, queue); }

std::vector<Arrival> listArrivals(const Options& options) {
  std::vector<Arrival> arrivals;
  for (int cohort = 0; cohort < options.cohorts; ++cohort) {
    for (int queue = 0; queue < options.queues; ++queue) {
      for (const JobClass& each : kClasses) {
        const int count = options.jobs * each.share / kShares;
        for (int i = 0; i < count; ++i)
          arrivals.push_back({i * each.every, queueName(cohort, queue), &each, i});
      }
    }
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  return arrivals;
}

void print(std::size_t jobs, double wall, double clock, const model::SharedList<model::Job>& all) {
  std::map<std::string, std::pair<double, int>> waits;  // by class
  for (const auto& job : all) {
    const auto* scheduled = job->condition(model::conditions::kScheduled);
    if (scheduled == nullptr) continue;
    auto& [sum, count] = waits[job->spec.priorityClassName];
    sum += std::chrono::duration<double>(scheduled->lastTransition - job->created).count();
    ++count;
  }
  fmt::print(
      R"({{"jobs":{},"wallSeconds":{:.1f},"perSecond":{:.0f},"clockSeconds":{:.1f},"meanWaitSeconds":{{)",
      jobs, wall, static_cast<double>(jobs) / wall, clock);
  const char* comma = "";
  for (const auto& [name, wait] : waits) {
    fmt::print(R"({}"{}":{:.1f})", comma, name, wait.first / wait.second);
    comma = ",";
  }
  fmt::print("}}}}\n");
}

// The cycles alone: the decisions of a plan take effect with the next tick.
class CyclesOnly {
 public:
  explicit CyclesOnly(const Options& options) : options_(options) {
    test::SnapshotBuilder builder = test::cluster();
    const int cpus = options.cohorts * options.queues * kQuota;
    for (int i = 0; i < 2 * cpus / 128 + 1; ++i) builder.add(test::node(fmt::format("n{:03}", i)).pods(250));
    for (const JobClass& each : kClasses) builder.priorityClass(each.name, each.priority);
    for (int cohort = 0; cohort < options.cohorts; ++cohort) {
      const int all = options.queues * kQuota;
      builder.add(queue(fmt::format("cohort-{}", cohort), "", all, all));
      for (int i = 0; i < options.queues; ++i) {
        builder.add(
            queue(queueName(cohort, i), fmt::format("cohort-{}", cohort), kQuota, kQuota + kBorrowing));
      }
    }
    input_.snapshot = builder.build();
    input_.otherFeedback.templateError = "";
  }

  base::Result<void> go() {
    const std::vector<Arrival> arrivals = listArrivals(options_);
    const auto wall = std::chrono::steady_clock::now();
    const base::WallTime begin = input_.snapshot.now;
    std::size_t next = 0;
    while (started_ < arrivals.size()) {
      const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(input_.snapshot.now - begin);
      if (elapsed > 2h) return tl::unexpected(base::Error{base::ErrorCode::kInternal, "jobs starve"});
      for (; next < arrivals.size() && arrivals[next].at <= elapsed; ++next) submit(arrivals[next]);
      endDue();
      publish();
      carryOut(core::cycle(input_, cache_));
      input_.snapshot.now += kTick;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - wall;
    const std::chrono::duration<double> clock = input_.snapshot.now - begin;
    publish();
    print(arrivals.size(), took.count(), clock.count(), input_.snapshot.jobs);
    return {};
  }

 private:
  using JobPtr = std::shared_ptr<const model::Job>;

  static model::Queue queue(const std::string& name, const std::string& parent, int guaranteed, int limit) {
    model::Queue queue;
    queue.name = model::QueueName(name);
    queue.parent = model::QueueName(parent);
    queue.guaranteed = model::Quota({{"cpu", guaranteed * 1000}});
    queue.limit = model::Quota({{"cpu", limit * 1000}});
    return queue;
  }

  void submit(const Arrival& arrival) {
    model::Job job =
        test::job(fmt::format("default/{}-{}-{}", arrival.queue, arrival.kind->name, arrival.number))
            .role("worker", 1, test::cpus(arrival.kind->cpus))
            .queue(arrival.queue)
            .priority(arrival.kind->name);
    job.created = input_.snapshot.now;
    job.spec.preemptible = true;
    runs_[job.key] = arrival.kind->runs;
    keep(std::move(job));
  }

  void keep(model::Job job) {
    const model::ObjectKey key = job.key;
    jobs_[key] = std::make_shared<const model::Job>(std::move(job));
  }

  void endDue() {
    while (!ends_.empty() && ends_.begin()->first <= input_.snapshot.now) {
      const model::ObjectKey key = ends_.begin()->second;
      ends_.erase(ends_.begin());
      model::Job job = *jobs_.at(key);
      model::setCondition(job.status.conditions, model::conditions::kSucceeded, model::ConditionStatus::kTrue,
                          "Succeeded", "", input_.snapshot.now, job.generation);
      job.status.completionTime = input_.snapshot.now;
      pods_.erase(podKey(key));
      keep(std::move(job));
    }
  }

  static model::ObjectKey podKey(const model::ObjectKey& job) {
    return {job.ns, model::podName(job.name, "worker", 0)};
  }

  void publish() {
    std::vector<JobPtr> jobs;
    std::vector<std::shared_ptr<const model::Pod>> pods;
    for (const auto& [key, job] : jobs_) jobs.push_back(job);
    for (const auto& [key, pod] : pods_) pods.push_back(pod);
    input_.snapshot.jobs = model::SharedList<model::Job>(std::move(jobs));
    input_.snapshot.pods = model::SharedList<model::Pod>(std::move(pods));
  }

  void carryOut(const core::Plan& plan) {
    for (const core::JobDecision& decision : plan.decisions) {
      if (!decision.status) continue;
      model::Job job = *decision.job;
      job.status = *decision.status;
      if (job.status.gang.proposal) start(job);
      keep(std::move(job));
    }
    for (const core::QueueStatusUpdate& news : plan.queues) {
      for (auto& each : input_.snapshot.queues.edit()) {
        if (each->name != news.queue->name) continue;
        auto told = std::make_shared<model::Queue>(*each);
        told->status = news.status;
        each = std::move(told);
      }
    }
  }

  void start(model::Job& job) {
    model::GangRecord& gang = job.status.gang;
    gang.lastEpoch = gang.proposal->epoch;
    gang.placed = model::Placed{gang.proposal->epoch, gang.proposal->add};
    gang.proposal.reset();
    model::setCondition(job.status.conditions, model::conditions::kScheduled, model::ConditionStatus::kTrue,
                        "GangPlaced", "", input_.snapshot.now, job.generation);
    const model::Pod pod = test::pod("default/x")
                               .memberOf(job, "worker", 0, gang.lastEpoch)
                               .on(gang.placed->assignments.front().node.str())
                               .requests(job.spec.roles.front().shape.requests)
                               .phase(model::PodPhase::kRunning);
    pods_[pod.key] = std::make_shared<const model::Pod>(pod);
    ends_.emplace(input_.snapshot.now + runs_.at(job.key), job.key);
    ++started_;
  }

  const Options options_;
  core::CycleInput input_;
  core::CycleCache cache_;
  std::map<model::ObjectKey, JobPtr> jobs_;
  std::map<model::ObjectKey, std::shared_ptr<const model::Pod>> pods_;
  std::map<model::ObjectKey, std::chrono::milliseconds> runs_;
  std::multimap<base::WallTime, model::ObjectKey> ends_;
  std::size_t started_ = 0;
};

// The whole cluster.
class Run {
 public:
  explicit Run(const Options& options) : options_(options) {}

  base::Result<void> go() {
    auto cluster = sim::SimulatedCluster::create(sim::ClusterOptions{});
    if (!cluster) return tl::unexpected(cluster.error());
    cluster_ = std::move(*cluster);
    if (auto made = makeCluster(); !made) return made;
    const std::vector<Arrival> arrivals = listArrivals(options_);
    cluster_->operators().start();
    cluster_->runFor(5s);
    const auto wall = std::chrono::steady_clock::now();
    const base::WallTime begin = cluster_->loop().wallNow();
    std::size_t next = 0;
    while (admitted_ < arrivals.size()) {
      const auto elapsed =
          std::chrono::duration_cast<std::chrono::milliseconds>(cluster_->loop().wallNow() - begin);
      for (; next < arrivals.size() && arrivals[next].at <= elapsed; ++next) {
        if (auto made = cluster_->create(jobText(arrivals[next])); !made) return tl::unexpected(made.error());
      }
      cluster_->runFor(std::chrono::milliseconds(kLook));
      look();
      if (elapsed > 2h) {
        return tl::unexpected(
            base::Error{base::ErrorCode::kUnavailable,
                        fmt::format("{} of {} jobs were admitted in two hours of the cluster's clock",
                                    admitted_, arrivals.size())});
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - wall;
    const std::chrono::duration<double> clock = cluster_->loop().wallNow() - begin;
    print(arrivals.size(), took.count(), clock.count(), cluster_->snapshot().jobs);
    return {};
  }

 private:
  base::Result<void> makeCluster() {
    // Jobs wait for quota, not for capacity.
    const sim::NodeShape shape{.gpus = 0, .cpus = 128, .memory = "1Ti", .pods = 250};
    const int cpus = options_.cohorts * options_.queues * kQuota;
    if (auto added = cluster_->addNodes(2 * cpus / 128 + 1, shape); !added) return added;
    for (const JobClass& each : kClasses) {
      const auto made = cluster_->create(fmt::format(
          R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"{}"}},"value":{}}})",
          each.name, each.priority));
      if (!made) return tl::unexpected(made.error());
    }
    for (int cohort = 0; cohort < options_.cohorts; ++cohort) {
      const int all = options_.queues * kQuota;
      if (auto made = makeQueue(fmt::format("cohort-{}", cohort), "", all, all); !made) return made;
      for (int queue = 0; queue < options_.queues; ++queue) {
        const std::string name = queueName(cohort, queue);
        if (auto made = makeQueue(name, fmt::format("cohort-{}", cohort), kQuota, kQuota + kBorrowing); !made)
          return made;
      }
    }
    return {};
  }

  base::Result<void> makeQueue(const std::string& name, const std::string& parent, int guaranteed,
                               int limit) {
    const auto made = cluster_->create(fmt::format(
        R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"Queue","metadata":{{"name":"{}"}},"spec":{{{})"
        R"("guaranteed":{{"cpu":"{}"}},"limit":{{"cpu":"{}"}}}}}})",
        name, parent.empty() ? "" : fmt::format(R"("parent":"{}",)", parent), guaranteed, limit));
    if (!made) return tl::unexpected(made.error());
    return {};
  }

  static std::string jobText(const Arrival& arrival) {
    return fmt::format(
        R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{{"name":"{0}-{1}-{2}"}},)"
        R"("spec":{{"framework":"Custom","queue":"{0}","priorityClassName":"{1}","preemptible":true,)"
        R"("roles":[{{"name":"worker","template":{{"metadata":{{"annotations":{{"sim.trainyard.dev/run-for":"{3}ms"}}}},)"
        R"("spec":{{"restartPolicy":"Never","containers":[{{"name":"train","image":"registry.example.com/train:1",)"
        R"("resources":{{"requests":{{"cpu":"{4}"}}}}}}]}}}}}}]}}}})",
        arrival.queue, arrival.kind->name, arrival.number, arrival.kind->runs.count(), arrival.kind->cpus);
  }

  void look() {
    admitted_ = 0;
    for (const auto& job : cluster_->snapshot().jobs) {
      if (job->status.gang.placed || job->status.gang.proposal || job->finished()) ++admitted_;
    }
  }

  const Options options_;
  std::unique_ptr<sim::SimulatedCluster> cluster_;
  std::size_t admitted_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Admits the jobs of Kueue's baseline performance test in one process."};
  app.add_option("--cohorts", options.cohorts)->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--queues", options.queues, "of each cohort")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "of each queue")
      ->check(CLI::Range(10, 10'000))
      ->capture_default_str();
  app.add_flag("--cycles-only", options.cyclesOnly, "no API server, pods, scheduler and kubelets");
  CLI11_PARSE(app, argc, argv);
  const auto done = options.cyclesOnly ? CyclesOnly(options).go() : Run(options).go();
  if (!done) {
    fmt::print(stderr, "admission-throughput: {}\n", done.error().message);
    return 1;
  }
  return 0;
}
