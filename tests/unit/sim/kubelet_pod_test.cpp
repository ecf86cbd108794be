#include <catch2/catch.hpp>

#include "sim/nodes/kubelet_pod.h"

namespace trainyard::sim {

using namespace std::chrono_literals;

TEST_CASE("durations as Go writes them") {
  CHECK(parseGoDuration("8s") == std::chrono::microseconds(8s));
  CHECK(parseGoDuration("1m30s") == std::chrono::microseconds(90s));
  CHECK(parseGoDuration("1.5h") == std::chrono::microseconds(90min));
  CHECK(parseGoDuration("250ms") == std::chrono::microseconds(250ms));
  CHECK(parseGoDuration("0s") == std::chrono::microseconds(0));
  for (const char* bad : {"", "8", "s", "8 s", "-1s", "1x", "1s2", "9999999h", "nan", "1e3s"}) {
    CAPTURE(bad);
    REQUIRE_FALSE(parseGoDuration(bad));
    CHECK(parseGoDuration(bad).error().message.find(bad) != std::string::npos);
  }
}

TEST_CASE("a pod's annotations state how its containers end") {
  const auto pod = decodeKubeletPod(R"({"metadata":{"namespace":"a","name":"b","uid":"u",
    "annotations":{"sim.trainyard.dev/run-for":"3s","sim.trainyard.dev/stop-for":"1m30s","sim.trainyard.dev/exit-code":"137","sim.trainyard.dev/reason":"OOMKilled"}},
    "spec":{"containers":[{"name":"c","image":"i"}]}})");
  REQUIRE(pod);
  CHECK(pod->runFor == std::chrono::microseconds(3s));
  CHECK(pod->stopFor == std::chrono::microseconds(90s));
  CHECK(pod->exitCode == 137);
  CHECK(pod->exitReason == "OOMKilled");
  CHECK(pod->containers.size() == 1);
}

TEST_CASE("an annotation that makes no sense is named with its pod") {
  const auto pod = decodeKubeletPod(R"({"metadata":{"namespace":"a","name":"b","uid":"u",
    "annotations":{"sim.trainyard.dev/exit-code":"many"}},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  REQUIRE_FALSE(pod);
  CHECK(pod.error().message.find("pod a/b") != std::string::npos);
  CHECK(pod.error().message.find("exit-code") != std::string::npos);
  CHECK(pod.error().message.find("many") != std::string::npos);
}

}  // namespace trainyard::sim
