#include "codec/node.h"

#include <catch2/catch.hpp>

#include "codec/pod_requests.h"

using trainyard::codec::decodeNode;
using trainyard::model::TaintEffect;

TEST_CASE("a node is projected") {
  const auto node = decodeNode(R"({
    "kind":"Node","apiVersion":"v1",
    "metadata":{"name":"n1","uid":"u1","labels":{"topology.kubernetes.io/zone":"z1","kubernetes.io/hostname":"n1"},
                "deletionTimestamp":"2026-11-21T09:00:00Z"},
    "spec":{"unschedulable":true,"taints":[
       {"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"},
       {"key":"node.kubernetes.io/unreachable","effect":"NoExecute","timeAdded":"2026-11-21T09:00:00Z"},
       {"key":"new","effect":"FromTheFuture"}]},
    "status":{"allocatable":{"cpu":"31850m","memory":"131072Ki","ephemeral-storage":"1500m","pods":"110",
                             "nvidia.com/gpu":"8","hugepages-1Gi":"0","hugepages-2Mi":"4Mi","storage":"9"},
              "conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}]}})");
  REQUIRE(node);
  CHECK(node->name.str() == "n1");
  CHECK(node->uid.str() == "u1");
  CHECK(*node->labels.find("topology.kubernetes.io/zone") == "z1");
  CHECK(node->deleting);
  CHECK(node->unschedulable);
  CHECK(node->ready);
  REQUIRE(node->taints.size() == 2);
  CHECK(node->taints[0] == trainyard::model::Taint{"nvidia.com/gpu", "present", TaintEffect::kNoSchedule});
  CHECK(node->taints[1].effect == TaintEffect::kNoExecute);
  CHECK(node->allocatable.cpu.value == 31'850);
  CHECK(node->allocatable.memory.value == std::int64_t{131'072} * 1024);
  CHECK(node->allocatable.ephemeralStorage.value == 1);  // offered amounts are rounded down
  CHECK(node->allocatable.pods == 110);
  CHECK(node->allocatable.gpus() == 8);
  CHECK(node->allocatable.extended("hugepages-2Mi") == 4 << 20);
  CHECK(node->allocatable.extended("storage") == 0);
}

TEST_CASE("a node without status is not ready and offers nothing") {
  const auto node = decodeNode(
      R"({"metadata":{"name":"n1"},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})");
  REQUIRE(node);
  CHECK_FALSE(node->ready);
  CHECK(node->allocatable == trainyard::model::Resources{});
}

TEST_CASE("a node that offers more than can be counted offers the largest amount") {
  const auto node = decodeNode(
      R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"1e19","example.com/x":"10P","nvidia.com/gpu":"8"}}})");
  REQUIRE(node);
  CHECK(node->allocatable.cpu.value == trainyard::codec::kLargestAmount);
  CHECK(node->allocatable.extended("example.com/x") == trainyard::codec::kLargestAmount);
  CHECK(node->allocatable.gpus() == 8);
}

TEST_CASE("a node that cannot be read takes no pods and is not gone") {
  const auto node = trainyard::codec::decodePartOfNode(
      R"({"metadata":{"name":"n1","uid":"u1","labels":{"rack":"r1"}},"status":{
          "allocatable":{"pods":"110","cpu":"x","nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True"}]}})");
  REQUIRE(node);
  CHECK(node->uid.str() == "u1");
  CHECK(*node->labels.find("rack") == "r1");
  CHECK(node->ready);
  CHECK_FALSE(node->takesPods());
  // Pods that tolerate a cordon are not placed there either.
  CHECK(node->allocatable.pods == 0);
  CHECK(node->allocatable.gpus() == 8);
  CHECK_FALSE(trainyard::codec::decodePartOfNode(R"({"metadata":{}})"));
  CHECK_FALSE(trainyard::codec::decodePartOfNode("{"));
}

TEST_CASE("a node that cannot be read is named with its field") {
  const auto refused = [](const char* json) { return decodeNode(json).error().message; };
  CHECK(refused(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"nvidia.com/gpu":"eight"}}})") ==
        R"(node n1: status.allocatable[nvidia.com/gpu]: quantity "eight": not a number)");
  CHECK(refused(R"({"metadata":{"name":"n1"},"spec":{"taints":{}}})") ==
        "node n1: spec.taints: expected a list, is {}");
  CHECK(refused(R"({"metadata":{"name":"n1"},"spec":{"unschedulable":"yes"}})") ==
        R"(node n1: spec.unschedulable: expected true or false, is "yes")");
  CHECK(refused(R"({"metadata":{}})") == "node: metadata.name: is required");
  CHECK(refused("[]") == "node: expected an object");
  CHECK(refused("{").starts_with("node: not JSON: "));
}
