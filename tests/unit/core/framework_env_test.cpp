#include "core/gang/framework_env.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/support/builders.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::string valueOf(const core::Environment& env, std::string_view name) {
  const auto at =
      std::find_if(env.begin(), env.end(), [&](const auto& entry) { return entry.first == name; });
  return at == env.end() ? "(unset)" : at->second;
}

model::Job withFramework(JobBuilder builder, model::Framework framework) {
  model::Job job = builder;
  job.spec.framework = framework;
  return job;
}

}  // namespace

TEST_CASE("every member is told who it is") {
  const model::Job made = withFramework(job("ml/bert").role("worker", 2, gpus(8)), model::Framework::kCustom);
  CHECK(core::MemberEnvironments(made).of("worker", 1, 7) == core::Environment{{"TRAINYARD_JOB", "bert"},
                                                                               {"TRAINYARD_ROLE", "worker"},
                                                                               {"TRAINYARD_INDEX", "1"},
                                                                               {"TRAINYARD_EPOCH", "7"}});
}

TEST_CASE("PyTorch: workers are ranked, the first is the master") {
  const model::Job made =
      withFramework(job("ml/bert").role("worker", 4, gpus(8)), model::Framework::kPyTorch);
  const auto env = core::MemberEnvironments(made).of("worker", 3, 1);
  CHECK(valueOf(env, "MASTER_ADDR") == "bert-worker-0.bert.ml.svc");
  CHECK(valueOf(env, "MASTER_PORT") == "29500");
  CHECK(valueOf(env, "WORLD_SIZE") == "4");
  CHECK(valueOf(env, "RANK") == "3");
  CHECK(valueOf(env, "NODE_RANK") == "3");
  CHECK(valueOf(env, "PET_NNODES") == "4");
  CHECK(valueOf(env, "PET_NPROC_PER_NODE") == "8");
  CHECK(valueOf(env, "PET_NODE_RANK") == "3");
  CHECK(valueOf(env, "PET_MASTER_ADDR") == "bert-worker-0.bert.ml.svc");
  CHECK(valueOf(env, "PET_MASTER_PORT") == "29500");
  CHECK(valueOf(env, "PYTHONUNBUFFERED") == "1");
}

TEST_CASE("PyTorch: master and chief come before workers, others as written, servers not at all") {
  const model::Job made = withFramework(job("ml/j")
                                            .role("extra", 1, cpus(1))
                                            .role("ps", 2, cpus(1))
                                            .role("worker", 3, gpus(1))
                                            .role("chief", 1, gpus(2))
                                            .role("evaluator", 1, gpus(1)),
                                        model::Framework::kPyTorch);
  CHECK(core::memberRank(made, "chief", 0) == 0);
  CHECK(core::memberRank(made, "worker", 2) == 3);
  CHECK(core::memberRank(made, "extra", 0) == 4);
  CHECK_FALSE(core::memberRank(made, "ps", 0));
  CHECK_FALSE(core::memberRank(made, "evaluator", 0));
  CHECK_FALSE(core::memberRank(made, "nobody", 0));
  const auto env = core::MemberEnvironments(made).of("extra", 0, 1);
  CHECK(valueOf(env, "MASTER_ADDR") == "j-chief-0.j.ml.svc");
  CHECK(valueOf(env, "WORLD_SIZE") == "5");
  CHECK(valueOf(env, "PET_NPROC_PER_NODE") == "1");
  CHECK(valueOf(core::MemberEnvironments(made).of("chief", 0, 1), "PET_NPROC_PER_NODE") == "2");
  CHECK(valueOf(core::MemberEnvironments(made).of("ps", 0, 1), "RANK") == "(unset)");
}

TEST_CASE("PyTorch: a gang of one talks to itself") {
  const model::Job made = withFramework(job("ml/j").role("worker", 1, gpus(8)), model::Framework::kPyTorch);
  const auto env = core::MemberEnvironments(made).of("worker", 0, 1);
  CHECK(valueOf(env, "MASTER_ADDR") == "localhost");
  CHECK(valueOf(env, "WORLD_SIZE") == "1");
}

TEST_CASE("an elastic role counts at the size it starts with, and always has names") {
  model::Job made = withFramework(job("ml/j").role("worker", 9, gpus(1)), model::Framework::kPyTorch);
  made.spec.elastic = model::Elastic{"worker", 1, 1, 4};
  const auto env = core::MemberEnvironments(made).of("worker", 0, 1);
  CHECK(valueOf(env, "WORLD_SIZE") == "1");
  CHECK(valueOf(env, "MASTER_ADDR") == "j-worker-0.j.ml.svc");
}

TEST_CASE("TensorFlow: the evaluator has a task but no place in the cluster") {
  const model::Job made = withFramework(job("ml/j")
                                            .role("chief", 1, gpus(1))
                                            .role("worker", 2, gpus(1))
                                            .role("ps", 1, cpus(1))
                                            .role("evaluator", 1, gpus(1)),
                                        model::Framework::kTensorFlow);
  const std::string cluster =
      R"({"cluster":{"chief":["j-chief-0.j.ml.svc:2222"],"worker":["j-worker-0.j.ml.svc:2222","j-worker-1.j.ml.svc:2222"],)"
      R"("ps":["j-ps-0.j.ml.svc:2222"]},)";
  CHECK(valueOf(core::MemberEnvironments(made).of("worker", 1, 1), "TF_CONFIG") ==
        cluster + R"("task":{"type":"worker","index":1},"environment":"cloud"})");
  CHECK(valueOf(core::MemberEnvironments(made).of("evaluator", 0, 1), "TF_CONFIG") ==
        cluster + R"("task":{"type":"evaluator","index":0},"environment":"cloud"})");
}
