#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lab.h"

// The simulated parts of the cluster alone, without an operator.
namespace trainyard::test {
namespace {

std::shared_ptr<const model::Pod> pod(Lab& lab, const std::string& name) {
  return lab->observer().cache().pods.find({"default", name});
}

}  // namespace

TEST_CASE("nodes become ready and their startup taint is removed") {
  Lab lab({}, 3);
  for (const auto& node : lab->snapshot().nodes) {
    CHECK(node->ready);
    CHECK(node->taints.empty());
  }
}

TEST_CASE("a pod is bound and then runs and ends as its annotations state") {
  Lab lab({}, 2);
  REQUIRE(lab.foreignPod("one", 1, "2s"));
  REQUIRE(lab.until([&] { return pod(lab, "one")->phase == model::PodPhase::kRunning; }, 5s));
  CHECK(pod(lab, "one")->ready);
  REQUIRE(lab.until([&] { return pod(lab, "one")->phase == model::PodPhase::kSucceeded; }, 5s));
  REQUIRE(pod(lab, "one")->exit);
  CHECK(pod(lab, "one")->exit->code == 0);
}

TEST_CASE("the scheduler reports on how many nodes a resource is insufficient") {
  Lab lab({}, 3);
  REQUIRE(lab.foreignPod("large", 9));
  lab.run(2s);
  CHECK(pod(lab, "large")->unschedulableMessage == "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.");
}

TEST_CASE("the scheduler prefers partly used GPU nodes and then the first name") {
  Lab lab({}, 3);
  for (int i = 0; i < 8; ++i) {
    REQUIRE(lab.foreignPod(fmt::format("p{}", i), 1));
    lab.run(1s);
  }
  for (int i = 0; i < 8; ++i) CHECK(pod(lab, fmt::format("p{}", i))->node.str() == "n0000");
}

TEST_CASE("a pending pod starts when another one ends and frees its GPUs") {
  Lab lab({}, 1);
  REQUIRE(lab.foreignPod("first", 8, "3s"));
  lab.run(1s);
  REQUIRE(lab.foreignPod("second", 8, "1s"));
  lab.run(1s);
  CHECK_FALSE(pod(lab, "second")->bound());
  REQUIRE(lab.until([&] { return pod(lab, "second")->phase == model::PodPhase::kSucceeded; }, 30s));
  lab.requireSound();
}

TEST_CASE("a kubelet rejects a pod that was bound beyond the node's capacity") {
  Lab lab({}, 1);
  REQUIRE(lab.foreignPod("first", 8));
  lab.run(2s);
  REQUIRE(lab.foreignPod("second", 1, "", "n0000"));
  lab.run(2s);
  CHECK(pod(lab, "second")->phase == model::PodPhase::kFailed);
  CHECK(pod(lab, "second")->statusReason == "OutOfnvidia.com/gpu");
  CHECK(lab->kubelets().refusals() == 1);
}

TEST_CASE("a deleted pod reports its exit code before it is removed") {
  Lab lab({}, 1);
  REQUIRE(lab.foreignPod("doomed", 1));
  REQUIRE(lab.until([&] { return pod(lab, "doomed")->phase == model::PodPhase::kRunning; }, 5s));
  lab.deletePod("doomed");
  CHECK(pod(lab, "doomed")->terminating);
  bool saidSo = false;
  REQUIRE(lab.until(
      [&] {
        const auto now = pod(lab, "doomed");
        saidSo =
            saidSo || (now && now->phase == model::PodPhase::kFailed && now->exit && now->exit->code == 143);
        return now == nullptr;
      },
      10s));
  CHECK(saidSo);
}

TEST_CASE("pods of a lost node are evicted after their toleration and removed when the node is deleted") {
  Lab lab({}, 2);
  REQUIRE(lab.foreignPod("stuck", 1));
  lab.run(2s);
  const model::NodeName node = pod(lab, "stuck")->node;
  lab->kubelets().setUp(node, false);
  REQUIRE(lab.until([&] { return !lab->observer().cache().nodes.find(node)->ready; }, 70s));
  REQUIRE(lab.until([&] { return pod(lab, "stuck")->terminating; }, 330s));
  CHECK(pod(lab, "stuck")->disruptionReason == "DeletionByTaintManager");
  lab.run(60s);
  CHECK(pod(lab, "stuck"));
  REQUIRE(lab->request(net::Method::kDelete, "/api/v1/nodes/" + node.str()));
  REQUIRE(lab.until([&] { return pod(lab, "stuck") == nullptr; }, 120s));
}

TEST_CASE("a kubelet that reconnects completes its pods and its node has no taints") {
  Lab lab({}, 1);
  REQUIRE(lab.foreignPod("patient", 1, "5s"));
  lab.run(2s);
  lab->kubelets().setUp(model::NodeName("n0000"), false);
  lab.run(100s);
  CHECK(pod(lab, "patient")->phase == model::PodPhase::kRunning);
  lab->kubelets().setUp(model::NodeName("n0000"), true);
  REQUIRE(lab.until([&] { return pod(lab, "patient")->phase == model::PodPhase::kSucceeded; }, 20s));
  CHECK(lab->observer().cache().nodes.find(model::NodeName("n0000"))->taints.empty());
}

TEST_CASE("bad options of a kind that is not known are named") {
  Lab lab({}, 1);
  const auto made = lab->create(R"({"apiVersion":"v9","kind":"Gadget","metadata":{"name":"x"}})");
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("Gadget of v9") != std::string::npos);
}

}  // namespace trainyard::test
