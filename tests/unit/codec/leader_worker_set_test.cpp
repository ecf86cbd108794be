#include "codec/leader_worker_set.h"

#include <catch2/catch.hpp>

#include "codec/pod.h"

namespace trainyard::codec {
namespace {

TEST_CASE("a pod of a LeaderWorkerSet asks for its group's gang, its role and its index there") {
  const auto arrivalOf = [](const std::string& labels) {
    const auto pod = decodePod(R"({"metadata":{"namespace":"ml","name":"a","uid":"u","labels":{)" + labels +
                               R"(}},"spec":{"schedulingGates":[{"name":"trainyard.dev/place"}],)"
                               R"("containers":[{"name":"main"}]}})");
    REQUIRE(pod);
    return pod->arrival ? *pod->arrival : model::Arrival{};
  };
  const std::string group =
      R"("trainyard.dev/queue":"q","leaderworkerset.sigs.k8s.io/name":"llm","leaderworkerset.sigs.k8s.io/group-index":"1",)";
  CHECK(arrivalOf(group + R"("leaderworkerset.sigs.k8s.io/worker-index":"0")") ==
        model::Arrival{"llm-1.group", "leader", 0});
  CHECK(arrivalOf(group + R"("leaderworkerset.sigs.k8s.io/worker-index":"2")") ==
        model::Arrival{"llm-1.group", "worker", 1});
  // What users name themselves goes first; without an index it is a gang of its own.
  CHECK(arrivalOf(group + R"("trainyard.dev/gang":"all","leaderworkerset.sigs.k8s.io/worker-index":"2")")
            .gang == "all.pods");
  CHECK(arrivalOf(group + R"("leaderworkerset.sigs.k8s.io/worker-index":"-2")").gang == "a.pod");
}

TEST_CASE("the roles of a group are its leader and the rest; without a leader's template both are alike") {
  const auto roles = rolesOfLeaderWorkerSet(
      R"({"spec":{"leaderWorkerTemplate":{"size":4,"workerTemplate":{"spec":{"containers":[]}}}}})");
  REQUIRE(roles);
  REQUIRE(roles->size() == 2);
  CHECK(roles->front().role == "leader");
  CHECK(roles->front().replicas == 1);
  CHECK(roles->back().role == "worker");
  CHECK(roles->back().replicas == 3);
  CHECK(roles->front().pod == roles->back().pod);
  const auto alone = rolesOfLeaderWorkerSet(
      R"({"spec":{"leaderWorkerTemplate":{"workerTemplate":{"spec":{"containers":[]}}}}})");
  REQUIRE(alone);
  CHECK(alone->size() == 1);
  const auto none = rolesOfLeaderWorkerSet(R"({"metadata":{"name":"llm"},"spec":{}})");
  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().message, Catch::Contains("spec.leaderWorkerTemplate.workerTemplate: has no spec"));
}

}  // namespace
}  // namespace trainyard::codec
