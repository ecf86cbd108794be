#include "core/gang/framework_env.h"

#include <algorithm>

#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "codec/json_value.h"
#include "model/gang_size.h"
#include "model/process_group.h"
#include "model/tensorflow_cluster.h"
#include "tests/support/builders.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::string valueOf(const model::Environment& env, std::string_view name) {
  const auto at = std::find_if(env.begin(), env.end(), [&](const auto& entry) { return entry.name == name; });
  return at == env.end() ? "(unset)" : at->value;
}

model::Job withFramework(JobBuilder builder, model::Framework framework) {
  model::Job job = builder;
  job.spec.framework = framework;
  return job;
}

}  // namespace

TEST_CASE("every member has its identity in its environment") {
  const model::Job made = withFramework(job("ml/bert").role("worker", 2, gpus(8)), model::Framework::kCustom);
  CHECK(core::MemberEnvironments(made).of("worker", 1, 7) ==
        model::Environment{{"TRAINYARD_JOB", "bert"},
                           {"TRAINYARD_NAMESPACE", "ml"},
                           {"TRAINYARD_ROLE", "worker"},
                           {"TRAINYARD_INDEX", "1"},
                           {"TRAINYARD_EPOCH", "7"},
                           {"TRAINYARD_REPLICAS", "2"},
                           {"TRAINYARD_DOMAIN", "bert.ml.svc"},
                           {"TRAINYARD_RANK", "1"},
                           {"TRAINYARD_SIZE", "2"},
                           {"TRAINYARD_COORDINATOR", "bert-worker-0.bert.ml.svc"}});
}

TEST_CASE("PyTorch: workers are ranked and the first is the master") {
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

TEST_CASE("PyTorch: master and chief rank before workers and servers have no rank") {
  const model::Job made = withFramework(job("ml/j")
                                            .role("extra", 1, cpus(1))
                                            .role("ps", 2, cpus(1))
                                            .role("worker", 3, gpus(1))
                                            .role("chief", 1, gpus(2))
                                            .role("evaluator", 1, gpus(1)),
                                        model::Framework::kPyTorch);
  CHECK(model::memberRank(made, "chief", 0) == 0);
  CHECK(model::memberRank(made, "worker", 2) == 3);
  CHECK(model::memberRank(made, "extra", 0) == 4);
  for (int rank = 0; rank < model::groupSize(made); ++rank) {
    const auto member = model::memberOfRank(made, rank);
    REQUIRE(member);
    CHECK(model::memberRank(made, member->first->name, member->second) == rank);
    CHECK(member->second < model::gangMembers(made, *member->first));
  }
  CHECK_FALSE(model::memberOfRank(made, model::groupSize(made)));
  CHECK_FALSE(model::memberOfRank(made, -1));
  CHECK_FALSE(model::memberRank(made, "ps", 0));
  CHECK_FALSE(model::memberRank(made, "evaluator", 0));
  CHECK_FALSE(model::memberRank(made, "absent", 0));
  const auto env = core::MemberEnvironments(made).of("extra", 0, 1);
  CHECK(valueOf(env, "MASTER_ADDR") == "j-chief-0.j.ml.svc");
  CHECK(valueOf(env, "WORLD_SIZE") == "5");
  CHECK(valueOf(env, "PET_NPROC_PER_NODE") == "1");
  CHECK(valueOf(core::MemberEnvironments(made).of("chief", 0, 1), "PET_NPROC_PER_NODE") == "2");
  CHECK(valueOf(core::MemberEnvironments(made).of("ps", 0, 1), "RANK") == "(unset)");
}

TEST_CASE("members of a job that reads its size have the size of their other variables") {
  model::Job made = withFramework(job("ml/j").role("chief", 1, gpus(1)).role("worker", 3, gpus(1)),
                                  model::Framework::kPyTorch);
  CHECK(valueOf(core::MemberEnvironments(made).of("chief", 0, 1), "TRAINYARD_ELASTIC_SIZE") == "(unset)");
  made.spec.elastic = model::Elastic{.role = "worker", .replicas = 3, .minReplicas = 1, .maxReplicas = 8};
  made.spec.checkpoint = model::Checkpoint{.mode = model::CheckpointMode::kLauncher};
  const auto env = core::MemberEnvironments(made).of("chief", 0, 1);
  CHECK(valueOf(env, "TRAINYARD_SIZE") == "4");
  CHECK(valueOf(env, "TRAINYARD_ELASTIC_SIZE") == "3");
}

TEST_CASE("PyTorch: the master address of a single pod is localhost") {
  const model::Job made = withFramework(job("ml/j").role("worker", 1, gpus(8)), model::Framework::kPyTorch);
  const auto env = core::MemberEnvironments(made).of("worker", 0, 1);
  CHECK(valueOf(env, "MASTER_ADDR") == "localhost");
  CHECK(valueOf(env, "WORLD_SIZE") == "1");
}

TEST_CASE("an elastic role counts at the size it starts with and always has names") {
  model::Job made = withFramework(job("ml/j").role("worker", 9, gpus(1)), model::Framework::kPyTorch);
  made.spec.elastic = model::Elastic{"worker", 1, 1, 4};
  const auto env = core::MemberEnvironments(made).of("worker", 0, 1);
  CHECK(valueOf(env, "WORLD_SIZE") == "1");
  CHECK(valueOf(env, "MASTER_ADDR") == "j-worker-0.j.ml.svc");
}

TEST_CASE("a gang that started without its last members has the variables of all of them") {
  model::Job made = withFramework(job("ml/j").role("worker", 4, gpus(1)), model::Framework::kPyTorch);
  made.spec.elastic = model::Elastic{"worker", 4, 3, 4};
  made.spec.minAvailable = 3;
  made.status.gang.placed.emplace();
  made.status.gang.placed->assignments = {{model::NodeName("n1"), "worker", model::IndexSet({0, 1, 2})}};
  const auto env = core::MemberEnvironments(made).of("worker", 2, 1);
  CHECK(valueOf(env, "WORLD_SIZE") == "4");
  CHECK(valueOf(env, "TRAINYARD_REPLICAS") == "4");
  CHECK(valueOf(env, "PET_NNODES") == "4");
  CHECK(valueOf(env, "PET_RDZV_BACKEND") == "(unset)");

  // The variable is set if the program reads the membership.
  made.spec.checkpoint = model::Checkpoint{.mode = model::CheckpointMode::kHelper};
  CHECK(valueOf(core::MemberEnvironments(made).of("worker", 2, 1), "WORLD_SIZE") == "3");
}

TEST_CASE("PyTorch: members of a gang that can change meet through c10d") {
  model::Job made = withFramework(job("ml/j").role("worker", 4, gpus(8)), model::Framework::kPyTorch);
  CHECK(valueOf(core::MemberEnvironments(made).of("worker", 1, 1), "PET_RDZV_BACKEND") == "(unset)");
  made.spec.failure.scope = model::RestartScope::kPod;
  auto env = core::MemberEnvironments(made).of("worker", 1, 1);
  CHECK(valueOf(env, "PET_RDZV_BACKEND") == "c10d");
  CHECK(valueOf(env, "PET_RDZV_ENDPOINT") == "j-worker-0.j.ml.svc:29400");
  CHECK(valueOf(env, "PET_RDZV_ID") == made.uid.str());
  CHECK(valueOf(env, "PET_RDZV_CONF") == "is_host=0");
  CHECK(valueOf(core::MemberEnvironments(made).of("worker", 0, 1), "PET_RDZV_CONF") == "is_host=1");
  CHECK(valueOf(env, "PET_NNODES") == "4");
  CHECK(valueOf(env, "PET_MAX_RESTARTS") == "10");
  CHECK(valueOf(env, "PET_NODE_RANK") == "(unset)");
  CHECK(valueOf(env, "PET_MASTER_ADDR") == "(unset)");

  made.spec.failure.scope = model::RestartScope::kGang;
  made.spec.elastic = model::Elastic{"worker", 4, 2, 6};
  env = core::MemberEnvironments(made).of("worker", 1, 1);
  CHECK(valueOf(env, "PET_RDZV_BACKEND") == "c10d");
  CHECK(valueOf(env, "PET_NNODES") == "2:6");
}

namespace {

// Reads TF_CONFIG as TensorFlow's TFConfigClusterResolver and ClusterSpec do: tasks as a list or by index.
struct TfConfig {
  std::map<std::string, std::map<std::string, std::string>> cluster;
  std::string type;
  std::int64_t index = -1;
};

// The kubelet expands $(NAME) with earlier variables.
TfConfig readTfConfig(const model::Job& job, const model::Environment& env) {
  std::string text = valueOf(env, "TF_CONFIG");
  constexpr std::string_view kReference = "$(TRAINYARD_TF_CLUSTER)";
  if (const auto at = text.find(kReference); at != std::string::npos) {
    const auto file = std::find_if(env.begin(), env.end(), [](const model::Variable& each) {
      return each.name == "TRAINYARD_TF_CLUSTER";
    });
    REQUIRE(file != env.end());
    CHECK(file->fileKey == "tf_cluster.json");
    text.replace(at, kReference.size(), "{" + model::tensorFlowCluster(job) + "}");
  }
  INFO(text);
  const auto document = codec::JsonDocument::parse(text);
  REQUIRE(document);
  TfConfig config;
  document->root().find("cluster").forEachMember([&](std::string_view role, codec::JsonValue tasks) {
    auto& known = config.cluster[std::string(role)];
    tasks.forEachMember([&](std::string_view at, codec::JsonValue host) {
      known[std::string(at)] = host.string().value_or("");
    });
    int next = 0;
    tasks.forEachElement(
        [&](codec::JsonValue host) { known[std::to_string(next++)] = host.string().value_or(""); });
  });
  config.type = document->root().find("task").find("type").string().value_or("");
  config.index = document->root().find("task").find("index").integer().value_or(-1);
  return config;
}

using Tasks = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("TensorFlow: without parameter servers each member's cluster has all but the evaluator") {
  const model::Job made = withFramework(
      job("ml/j").role("chief", 1, gpus(1)).role("worker", 2, gpus(1)).role("evaluator", 1, gpus(1)),
      model::Framework::kTensorFlow);
  const core::MemberEnvironments environments(made);
  const std::vector<std::pair<std::string, int>> members{{"chief", 0}, {"worker", 1}, {"evaluator", 0}};
  for (const auto& [role, index] : members) {
    const TfConfig config = readTfConfig(made, environments.of(role, index, 1));
    CHECK(config.cluster.size() == 2);
    CHECK(config.cluster.at("chief") == Tasks{{"0", "j-chief-0.j.ml.svc:2222"}});
    CHECK(config.cluster.at("worker") ==
          Tasks{{"0", "j-worker-0.j.ml.svc:2222"}, {"1", "j-worker-1.j.ml.svc:2222"}});
    CHECK(config.type == role);
    CHECK(config.index == index);
  }
}

TEST_CASE("TensorFlow: with parameter servers a worker sees itself and chief and servers") {
  const model::Job made = withFramework(job("ml/j")
                                            .role("chief", 1, gpus(1))
                                            .role("worker", 3, gpus(1))
                                            .role("ps", 2, cpus(1))
                                            .role("evaluator", 1, gpus(1)),
                                        model::Framework::kTensorFlow);
  const core::MemberEnvironments environments(made);
  const Tasks chief{{"0", "j-chief-0.j.ml.svc:2222"}};
  const Tasks servers{{"0", "j-ps-0.j.ml.svc:2222"}, {"1", "j-ps-1.j.ml.svc:2222"}};

  const TfConfig worker = readTfConfig(made, environments.of("worker", 2, 1));
  CHECK(worker.cluster == decltype(worker.cluster){{"chief", chief},
                                                   {"ps", servers},
                                                   {"worker", {{"2", "j-worker-2.j.ml.svc:2222"}}}});
  const TfConfig server = readTfConfig(made, environments.of("ps", 1, 1));
  CHECK(server.cluster ==
        decltype(server.cluster){{"chief", chief}, {"ps", {{"1", "j-ps-1.j.ml.svc:2222"}}}});
  const TfConfig first = readTfConfig(made, environments.of("chief", 0, 1));
  CHECK(first.cluster.at("worker").size() == 3);
  CHECK(first.cluster.at("ps") == servers);
  CHECK_FALSE(first.cluster.contains("evaluator"));
}

TEST_CASE("TensorFlow: the variables of a member do not grow with the gang") {
  const auto sizeOf = [](int workers) {
    const model::Job made =
        withFramework(job("ml/j").role("worker", workers, gpus(1)), model::Framework::kTensorFlow);
    std::size_t size = 0;
    for (const auto& each : core::MemberEnvironments(made).of("worker", 1, 1)) size += each.value.size();
    return size;
  };
  CHECK(sizeOf(9) == sizeOf(2));
  const model::Job alone =
      withFramework(job("ml/j").role("worker", 1, gpus(1)), model::Framework::kTensorFlow);
  CHECK(readTfConfig(alone, core::MemberEnvironments(alone).of("worker", 0, 1)).cluster.at("worker") ==
        Tasks{{"0", "localhost:2222"}});
}

TEST_CASE("JAX: coordinator and number of processes and index") {
  const model::Job made = withFramework(job("ml/j").role("worker", 4, gpus(8)), model::Framework::kJax);
  const auto env = core::MemberEnvironments(made).of("worker", 3, 1);
  CHECK(valueOf(env, "JAX_COORDINATOR_ADDRESS") == "j-worker-0.j.ml.svc:1234");
  CHECK(valueOf(env, "JAX_NUM_PROCESSES") == "4");
  CHECK(valueOf(env, "JAX_PROCESS_ID") == "3");
}

TEST_CASE("MXNet and BytePS: scheduler and servers and workers") {
  const model::Job made = withFramework(
      job("ml/j").role("scheduler", 1, cpus(1)).role("server", 2, cpus(1)).role("worker", 4, gpus(2)),
      model::Framework::kMxNet);
  const core::MemberEnvironments environments(made);
  for (const std::string role : {"scheduler", "server", "worker"}) {
    const auto env = environments.of(role, 0, 1);
    CHECK(valueOf(env, "DMLC_ROLE") == role);
    CHECK(valueOf(env, "DMLC_PS_ROOT_URI") == "j-scheduler-0.j.ml.svc");
    CHECK(valueOf(env, "DMLC_PS_ROOT_PORT") == "9091");
    CHECK(valueOf(env, "DMLC_NUM_WORKER") == "4");
    CHECK(valueOf(env, "DMLC_NUM_SERVER") == "2");
  }
  CHECK(valueOf(environments.of("worker", 3, 1), "DMLC_WORKER_ID") == "3");
  CHECK(valueOf(environments.of("worker", 3, 1), "BYTEPS_LOCAL_SIZE") == "2");
  CHECK(valueOf(environments.of("server", 1, 1), "DMLC_WORKER_ID") == "(unset)");
  CHECK(valueOf(environments.of("worker", 3, 1), "BYTEPS_FORCE_DISTRIBUTED") == "(unset)");
  const model::Job one = withFramework(
      job("ml/j").role("scheduler", 1, cpus(1)).role("server", 1, cpus(1)).role("worker", 1, gpus(2)),
      model::Framework::kMxNet);
  CHECK(valueOf(core::MemberEnvironments(one).of("worker", 0, 1), "BYTEPS_FORCE_DISTRIBUTED") == "1");
}

TEST_CASE("MPI: every launcher's variables point to the files of the job") {
  const model::Job made = withFramework(job("ml/j").role("launcher", 1, cpus(1)).role("worker", 3, gpus(4)),
                                        model::Framework::kMpi);
  const auto env = core::MemberEnvironments(made).of("launcher", 0, 1);
  CHECK(valueOf(env, "OMPI_MCA_orte_default_hostfile") == "/etc/trainyard/mpi/hostfile");
  CHECK(valueOf(env, "PRTE_MCA_prte_default_hostfile") == "/etc/trainyard/mpi/hostfile");
  CHECK(valueOf(env, "HYDRA_HOST_FILE") == "/etc/trainyard/mpi/hosts.hydra");
  CHECK(valueOf(env, "I_MPI_PERHOST") == "4");
  CHECK(valueOf(env, "TRAINYARD_PROCESSES") == "12");
  CHECK(valueOf(env, "NVIDIA_VISIBLE_DEVICES").empty());
  CHECK(valueOf(env, "HOROVOD_START_TIMEOUT") == "(unset)");
  const auto worker = core::MemberEnvironments(made).of("worker", 0, 1);
  CHECK(valueOf(worker, "NVIDIA_VISIBLE_DEVICES") == "(unset)");

  const model::Job alone = withFramework(job("ml/j").role("worker", 1, gpus(4)), model::Framework::kMpi);
  CHECK(valueOf(core::MemberEnvironments(alone).of("worker", 0, 1), "TRAINYARD_HOSTFILE") == "(unset)");
}

TEST_CASE("Horovod: as MPI and with hosts to be discovered") {
  const model::Job made = withFramework(job("ml/j").role("launcher", 1, cpus(1)).role("worker", 3, gpus(4)),
                                        model::Framework::kHorovod);
  const auto env = core::MemberEnvironments(made).of("launcher", 0, 1);
  CHECK(valueOf(env, "TRAINYARD_DISCOVER_HOSTS") == "/etc/trainyard/mpi/discover_hosts.sh");
  CHECK(valueOf(env, "HOROVOD_START_TIMEOUT") == "600");
  CHECK(valueOf(env, "OMPI_MCA_orte_default_hostfile") == "/etc/trainyard/mpi/hostfile");
}
