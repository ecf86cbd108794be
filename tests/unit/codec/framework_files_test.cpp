#include "codec/framework_files.h"

#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/base64.h"
#include "codec/container_env.h"
#include "codec/job.h"
#include "codec/json_value.h"
#include "codec/member_pod.h"
#include "codec/secret.h"
#include "codec/ssh_secret.h"

using namespace trainyard;

namespace {

model::Job launched(std::string_view framework, int workers = 3, std::string_view worker = "") {
  auto job = codec::decodeJob(fmt::format(
      R"({{"metadata":{{"name":"j","namespace":"ml","uid":"u1","resourceVersion":"5"}},
          "spec":{{"framework":"{}","roles":[
            {{"name":"launcher","template":{{"spec":{{"containers":[
              {{"name":"mpi","image":"x","resources":{{"limits":{{"cpu":"1"}}}},"volumeMounts":[{{"name":"data","mountPath":"/data"}}]}}],
              "volumes":[{{"name":"data","emptyDir":{{}}}}]}}}}}},
            {{"name":"worker","replicas":{},"template":{{"spec":{{"containers":[
              {{"name":"w","image":"x"{},"resources":{{"limits":{{"nvidia.com/gpu":2}}}}}}]}}}}}}]}}}})",
      framework, workers, worker));
  REQUIRE(job);
  CHECK(job->specError.empty());
  return *std::move(job);
}

std::map<std::string, std::string> dataOf(const model::Job& job) {
  const auto body = codec::encodeFrameworkFiles(job);
  REQUIRE(body);
  const auto document = codec::JsonDocument::parse(*body);
  REQUIRE(document);
  CHECK(document->root().find("metadata").find("name").string() == codec::frameworkFilesName(job));
  CHECK(document->root().find("metadata").find("ownerReferences").present());
  std::map<std::string, std::string> data;
  document->root().find("data").forEachMember(
      [&](std::string_view key, codec::JsonValue value) { data.emplace(key, value.string().value_or("")); });
  return data;
}

std::string podOf(const model::Job& job, std::string_view role) {
  auto pod = codec::encodeMemberPod(job, *job.spec.findRole(role), 0, {.environment = {{"A", "b"}}});
  REQUIRE(pod);
  return *std::move(pod);
}

}  // namespace

TEST_CASE("MPI: the host file has a line for each worker with its slots") {
  const auto data = dataOf(launched("MPI"));
  CHECK(data.at("hostfile") ==
        "j-worker-0.j.ml.svc slots=2\nj-worker-1.j.ml.svc slots=2\nj-worker-2.j.ml.svc slots=2\n");
  CHECK(data.at("hosts.hydra") == "j-worker-0.j.ml.svc:2\nj-worker-1.j.ml.svc:2\nj-worker-2.j.ml.svc:2\n");
  CHECK_THAT(data.at("ssh_config"), Catch::StartsWith("Host j-* *.j.ml.svc\n"));
  for (const char* key : {"sshd_config", "ssh.sh", "sshd.sh", "session.sh", "wait.sh", "discover_hosts.sh"})
    CHECK_FALSE(data.at(key).empty());
}

TEST_CASE("a gang of another size has other files and the same gang has the same") {
  CHECK(codec::frameworkFilesName(launched("MPI")) == codec::frameworkFilesName(launched("MPI")));
  CHECK(codec::frameworkFilesName(launched("MPI")) != codec::frameworkFilesName(launched("MPI", 4)));
}

TEST_CASE("frameworks that read no files have none") {
  CHECK_FALSE(codec::encodeFrameworkFiles(launched("PyTorch")));
  CHECK_FALSE(codec::encodeFrameworkFiles(launched("JAX")));
  const auto data = dataOf(launched("TensorFlow"));
  CHECK(data.size() == 1);
  CHECK(data.at("tf_cluster.json") ==
        R"({"launcher":["j-launcher-0.j.ml.svc:2222"],"worker":["j-worker-0.j.ml.svc:2222",)"
        R"("j-worker-1.j.ml.svc:2222","j-worker-2.j.ml.svc:2222"]})");
}

TEST_CASE("MPI: the launcher waits with its own image and keeps its own mounts") {
  const auto document = codec::JsonDocument::parse(podOf(launched("MPI"), "launcher"));
  REQUIRE(document);
  const codec::JsonValue spec = document->root().find("spec");
  int waits = 0;
  spec.find("initContainers").forEachElement([&](codec::JsonValue each) {
    ++waits;
    CHECK(each.find("name").string() == "trainyard-wait");
    CHECK(each.find("image").string() == "x");
    CHECK(each.find("resources").minified() == R"({"limits":{"cpu":"1"}})");
    CHECK(each.find("command").minified() == R"(["/bin/sh","/etc/trainyard/mpi/wait.sh"])");
  });
  CHECK(waits == 1);
  spec.find("containers").forEachElement([&](codec::JsonValue each) {
    CHECK_FALSE(each.find("command").present());
    std::vector<std::string> paths;
    each.find("volumeMounts").forEachElement([&](codec::JsonValue mount) {
      paths.emplace_back(mount.find("mountPath").string().value_or(""));
    });
    CHECK(paths == std::vector<std::string>{"/data", "/etc/trainyard/mpi", "/etc/trainyard/ssh",
                                            "/run/trainyard", "/etc/ssh/ssh_config.d/trainyard.conf"});
  });
}

TEST_CASE("MPI: a worker without a command is an ssh server") {
  const auto commandOf = [](const model::Job& job) {
    const std::string pod = podOf(job, "worker");
    const auto document = codec::JsonDocument::parse(pod);
    REQUIRE(document);
    std::string command = "(none)";
    const codec::JsonValue spec = document->root().find("spec");
    CHECK_FALSE(spec.find("initContainers").present());
    spec.find("containers").forEachElement([&](codec::JsonValue each) {
      if (each.find("command").present()) command = each.find("command").minified();
    });
    return command;
  };
  CHECK(commandOf(launched("MPI")) == R"(["/bin/sh","/etc/trainyard/mpi/sshd.sh"])");
  CHECK(commandOf(launched("MPI", 3, R"(,"command":["mine"])")) == R"(["mine"])");
  CHECK(commandOf(launched("PyTorch")) == "(none)");
}

TEST_CASE("the keys of a job are in a Secret of its own") {
  const model::Job job = launched("MPI");
  CHECK(codec::sshSecretName(job) == "j-ssh-u1");
  const std::string body =
      codec::encodeSshSecret(job, {"USER", "ssh-ed25519 AAAA u"}, {"HOST", "ssh-ed25519 BBBB h"});
  const auto document = codec::JsonDocument::parse(body);
  REQUIRE(document);
  const auto data = document->root().find("data");
  const auto text = [&](std::string_view key) {
    return codec::decodeBase64(data.find(key).string().value_or("")).value_or("(bad)");
  };
  CHECK(text("id") == "USER");
  CHECK(text("host_key") == "HOST");
  CHECK(text("authorized_keys") == "ssh-ed25519 AAAA u\n");
  CHECK(text("known_hosts") == "trainyard ssh-ed25519 BBBB h\n");
  CHECK(document->root().find("metadata").find("ownerReferences").present());
}

TEST_CASE("a long value is taken from the job's files; own variables are found by name") {
  const model::Job job = launched("TensorFlow", 3, R"(,"env":[{"name":"TF_CONFIG","value":"mine"}])");
  const model::Environment environment{{"LIST", {}, "tf_cluster.json"}, {"TF_CONFIG", "ours"}};
  auto pod = codec::encodeMemberPod(job, *job.spec.findRole("worker"), 0, {.environment = environment});
  REQUIRE(pod);
  CHECK_THAT(
      *pod,
      Catch::Contains(fmt::format(
          R"({{"name":"LIST","valueFrom":{{"configMapKeyRef":{{"name":"{}","key":"tf_cluster.json"}}}}}})",
          codec::frameworkFilesName(job))));
  CHECK_THAT(*pod, !Catch::Contains("ours"));
  CHECK(codec::findOwnVariables(*job.spec.findRole("worker"), environment) ==
        std::vector<std::string>{"TF_CONFIG"});
  CHECK(codec::findOwnVariables(*job.spec.findRole("launcher"), environment).empty());
}
