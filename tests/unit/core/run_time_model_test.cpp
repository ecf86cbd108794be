#include "core/order/run_time_model.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/order/run_times.h"
#include "model/charge.h"
#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using std::chrono::seconds;

namespace {

model::Job jobNamed(const std::string& name, std::int64_t submitted, std::int64_t gpus = 1) {
  model::Job job;
  job.key = test::key(name);
  job.uid = model::Uid(name);
  job.created = test::at(submitted);
  model::Role worker{.name = "worker", .replicas = 1, .shape = {}, .templateJson = {}};
  worker.shape.requests = test::gpus(gpus);
  job.spec.roles.push_back(std::move(worker));
  job.status.gpus = gpus;
  job.spec.queue = model::QueueName("research");
  return job;
}

model::Condition conditionOf(std::string_view type) {
  model::Condition condition;
  condition.type = type;
  condition.status = model::ConditionStatus::kTrue;
  return condition;
}

std::shared_ptr<const model::Job> succeeded(const std::string& name, std::int64_t submitted, std::int64_t ran,
                                            std::int64_t gpus = 1) {
  model::Job job = jobNamed(name, submitted, gpus);
  job.status.conditions.push_back(conditionOf(model::conditions::kSucceeded));
  job.status.service.runSeconds = ran;
  return std::make_shared<const model::Job>(job);
}

model::SharedList<model::Job> listOf(std::vector<std::shared_ptr<const model::Job>> jobs) {
  return model::SharedList<model::Job>(std::move(jobs));
}

TEST_CASE("the kind of a job is its name without a number or random letters at its end") {
  const auto kind = [](const std::string& name) { return kindsOf(jobNamed(name, 0, 8))[0]; };
  CHECK(kind("ml/bert") == "job/ml/bert/8");
  CHECK(kind("ml/bert-17") == "job/ml/bert/8");
  CHECK(kind("ml/bert-x7k2p") == "job/ml/bert/8");
  CHECK(kind("ml/bert-lr-3-x7k2p") == "job/ml/bert-lr/8");
  CHECK(kind("ml/bert-large") == "job/ml/bert-large/8");
  CHECK(kind("ml/gpt-v2") == "job/ml/gpt-v2/8");
  CHECK(kind("ml/17") == "job/ml/17/8");
  CHECK(kindsOf(jobNamed("ml/bert", 0, 8))[1] == "queue/research/8");
}

TEST_CASE("kinds have equal numbers where they have equal names") {
  const std::vector<model::Job> jobs{jobNamed("ml/bert-17", 0, 8), jobNamed("ml/bert-x7k2p", 0, 8),
                                     jobNamed("ml/bert-17", 0, 9), jobNamed("ml/bert-17", 0, 256),
                                     jobNamed("m/lbert-17", 0, 8), jobNamed("ml/bert-large", 0, 8),
                                     jobNamed("research/-1", 0, 8)};
  for (const model::Job& a : jobs) {
    for (const model::Job& b : jobs) {
      CHECK((kindNumbersOf(a)[0] == kindNumbersOf(b)[0]) == (kindsOf(a)[0] == kindsOf(b)[0]));
      CHECK((kindNumbersOf(a)[1] == kindNumbersOf(b)[1]) == (kindsOf(a)[1] == kindsOf(b)[1]));
      CHECK(kindNumbersOf(a)[0] != kindNumbersOf(b)[1]);
    }
  }
}

TEST_CASE("a job whose spec is not what it ran as adds no run time") {
  model::Job ran = *succeeded("ml/a-1", 0, 60, 8);
  ran.generation = ran.status.conditions.back().observedGeneration = 2;
  ran.status.gang.charge = model::makeCharge(ran.spec, ran.spec.queue, 0);
  const auto teaches = [](const model::Job& job) {
    model::RunTimes times;
    return learn(times, listOf({std::make_shared<const model::Job>(job)}));
  };
  CHECK(teaches(ran));
  model::Job edited = ran;
  edited.generation = 3;  // after its end
  CHECK_FALSE(teaches(edited));
  model::Job moved = ran;  // just before its end
  moved.spec.queue = model::QueueName("theirs");
  CHECK_FALSE(teaches(moved));
  model::Job larger = ran;
  larger.spec.roles[0].shape.requests = test::gpus(64);
  CHECK_FALSE(teaches(larger));
  // The namespace's label changes the meaning of the default queue.
  model::Job byLabel = ran;
  byLabel.spec.queue = model::QueueName("default");
  CHECK(teaches(byLabel));
}

TEST_CASE("only jobs that succeeded add run times and each only once") {
  model::RunTimes times;
  auto failed = jobNamed("ml/a-2", 5);
  failed.status.conditions.push_back(conditionOf(model::conditions::kFailed));
  failed.status.service.runSeconds = 60;
  const auto jobs = listOf({succeeded("ml/a-1", 0, 60), std::make_shared<const model::Job>(failed),
                            succeeded("ml/cpu", 0, 60, 0)});
  CHECK(learn(times, jobs));
  CHECK_FALSE(learn(times, jobs));
  REQUIRE(times.kinds.size() == 3);
  REQUIRE(times.kinds.at("job/ml/a/1").size() == 1);
  CHECK(times.kinds.at("job/ml/a/1")[0].submitted == test::at(0));
  CHECK(times.kinds.at("job/ml/a/1")[0].ran == seconds(60));
}

TEST_CASE("jobs of a sweep that were submitted and ended together count separately") {
  model::RunTimes times;
  const auto jobs =
      listOf({succeeded("ml/a-1", 0, 60), succeeded("ml/a-2", 0, 60), succeeded("ml/a-3", 0, 60)});
  CHECK(learn(times, jobs));
  CHECK(times.kinds.at("job/ml/a/1").size() == 3);
}

TEST_CASE("the last 1024 run times of each kind are stored and each only once") {
  model::RunTimes times;
  std::vector<std::shared_ptr<const model::Job>> jobs;
  for (int i = 0; i < 1'100; ++i) jobs.push_back(succeeded("ml/a-" + std::to_string(i), i, 10 + i));
  CHECK(learn(times, listOf(jobs)));
  CHECK_FALSE(learn(times, listOf(jobs)));
  const auto& kept = times.kinds.at("job/ml/a/1");
  REQUIRE(kept.size() == 1'024);
  CHECK(kept.front().submitted == test::at(76));
  CHECK(kept.back().submitted == test::at(1'099));
}

TEST_CASE("the run times of two leaders are merged and counted once") {
  model::RunTimes one;
  model::RunTimes two;
  CHECK(learn(one, listOf({succeeded("ml/a-1", 0, 60), succeeded("ml/a-2", 1, 60)})));
  CHECK(learn(two, listOf({succeeded("ml/a-2", 1, 60), succeeded("ml/a-3", 2, 60)})));
  CHECK(merge(one, two));
  CHECK_FALSE(merge(one, two));
  CHECK(one.kinds.at("job/ml/a/1").size() == 3);
}

double rate(RunTimeModel& forecast, const model::Job& job) {
  return forecast.rate(forecast.questionOf(job), job);
}

TEST_CASE("jobs of a kind that ended soon are likelier to end soon") {
  model::RunTimes times;
  std::vector<std::shared_ptr<const model::Job>> past;
  for (int i = 0; i < 3; ++i) {
    past.push_back(succeeded("ml/sweep-" + std::to_string(i), i, 60));
    past.push_back(succeeded("ml/pretrain-" + std::to_string(i), i, 36'000));
  }
  REQUIRE(learn(times, listOf(past)));
  model::Snapshot snapshot;
  snapshot.now = test::at(50'000);
  snapshot.policy.ordering = model::Ordering::kDefault;
  snapshot.runTimes = std::make_shared<const model::RunTimes>(times);
  LiveRuns none;
  RunTimeModel forecast(snapshot, none);
  CHECK(rate(forecast, jobNamed("ml/sweep-9", 50'000)) >
        10 * rate(forecast, jobNamed("ml/pretrain-9", 50'000)));

  // A job that has run longer than all jobs of its kind is no longer treated like them.
  model::Job late = jobNamed("ml/sweep-9", 50'000);
  late.status.service.runSeconds = 7'200;
  CHECK(rate(forecast, late) < rate(forecast, jobNamed("ml/sweep-10", 50'000)));
}

TEST_CASE("jobs of a kind that still run lengthen its expected run time") {
  model::RunTimes times;
  std::vector<std::shared_ptr<const model::Job>> past;
  for (int i = 0; i < 3; ++i) past.push_back(succeeded("ml/a-" + std::to_string(i), i, 60));
  REQUIRE(learn(times, listOf(past)));
  model::Snapshot snapshot;
  snapshot.now = test::at(100'000);
  snapshot.policy.ordering = model::Ordering::kDefault;
  snapshot.runTimes = std::make_shared<const model::RunTimes>(times);
  LiveRuns none;
  RunTimeModel before(snapshot, none);
  const double without = rate(before, jobNamed("ml/a-9", 100));

  std::vector<std::shared_ptr<const model::Job>> live;
  for (int i = 3; i < 9; ++i) {
    model::Job running = jobNamed("ml/a-" + std::to_string(i), i);
    running.status.gang.placed.emplace();
    running.status.service.updatedAt = test::at(10);
    live.push_back(std::make_shared<const model::Job>(running));
  }
  snapshot.jobs = listOf(live);
  LiveRuns some;
  RunTimeModel after(snapshot, some);
  CHECK(rate(after, jobNamed("ml/a-9", 100)) < without);
}

}  // namespace
