#include "agent/node_traffic.h"

#include <catch2/catch.hpp>

#include "agent/burst_meter.h"
#include "agent/uplink.h"
#include "codec/traffic_pod.h"

using namespace trainyard;
using namespace trainyard::agent;

namespace {

std::string podJson(const std::string& name, const std::string& role, const std::string& annotation,
                    const std::string& more = "", const std::string& address = "10.0.0.1") {
  return R"({"metadata":{"namespace":"ml","name":")" + name + R"(","uid":"u-)" + name +
         R"(","creationTimestamp":"2026-01-01T00:00:05Z","labels":{"trainyard.dev/job-name":"j","trainyard.dev/job-uid":"job-)" +
         name + R"(","trainyard.dev/role":")" + role + R"("},"annotations":{"trainyard.dev/network":)" +
         (annotation.empty() ? "\"\"" : annotation) +
         R"(},"ownerReferences":[{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","uid":"job-)" +
         name + R"(","controller":true}]},"spec":{"nodeName":"n")" + more +
         R"(},"status":{"phase":"Running","startTime":"2026-01-01T00:01:00Z","podIPs":[{"ip":")" + address +
         R"("}]}})";
}

NodeTraffic trafficOf(const std::vector<std::string>& pods) {
  std::vector<std::shared_ptr<const model::TrafficPod>> decoded;
  for (const std::string& each : pods) {
    const auto pod = codec::decodeTrafficPod(each);
    REQUIRE(pod);
    decoded.push_back(std::make_shared<const model::TrafficPod>(*pod));
  }
  return nodeTraffic(decoded);
}

}  // namespace

TEST_CASE("parameter servers are ordered and workers only if their job names a band") {
  CHECK(trafficOf({podJson("a", "ps", "")}).jobs.size() == 1);
  CHECK(trafficOf({podJson("a", "server", "")}).jobs.size() == 1);
  CHECK(trafficOf({podJson("a", "worker", "")}).jobs.empty());
  const auto banded = trafficOf({podJson("a", "worker", R"("{\"band\":3}")")});
  REQUIRE(banded.jobs.size() == 1);
  CHECK(banded.jobs[0].rank.fixedBand == 3);
  CHECK(trafficOf({podJson("a", "ps", R"("{\"off\":true}")")}).jobs.empty());
}

TEST_CASE("a pod that names another job as its owner is not part of that job's order") {
  std::string pod = podJson("a", "ps", R"("{\"band\":0}")");
  const std::string label = R"("trainyard.dev/job-uid":"job-a")";
  pod.replace(pod.find(label), label.size(), R"("trainyard.dev/job-uid":"mine")");
  CHECK(trafficOf({pod}).jobs.empty());
}

TEST_CASE("an annotation states age and expected end and counts as absent when it is unreadable") {
  const auto traffic =
      trafficOf({podJson("a", "ps", R"("{\"since\":\"2025-12-31T00:00:00Z\",\"expectedSeconds\":60}")")});
  REQUIRE(traffic.jobs.size() == 1);
  CHECK(base::formatTime(traffic.jobs[0].rank.since) == "2025-12-31T00:00:00Z");
  REQUIRE(traffic.jobs[0].rank.expectedEnd);
  CHECK(base::formatTime(*traffic.jobs[0].rank.expectedEnd) == "2026-01-01T00:02:00Z");
  const auto garbled = trafficOf({podJson("a", "ps", R"("{\"band\":99}")")});
  REQUIRE(garbled.jobs.size() == 1);
  CHECK(!garbled.jobs[0].rank.fixedBand);
}

TEST_CASE("a pod on the node's network is identified by its declared ports or not at all") {
  const auto known = trafficOf(
      {podJson("a", "ps", "", R"(,"hostNetwork":true,"containers":[{"ports":[{"containerPort":2222}]}])")});
  REQUIRE(known.jobs.size() == 1);
  REQUIRE(known.jobs[0].traffic.flows.size() == 1);
  CHECK(known.jobs[0].traffic.flows[0].sourcePort == 2222);
  const auto unknown = trafficOf({podJson("a", "ps", "", R"(,"hostNetwork":true)")});
  CHECK(unknown.jobs.empty());
  CHECK(unknown.unknown == std::vector<std::string>{"ml/a"});
}

TEST_CASE("an address of two pods counts once") {
  const auto traffic = trafficOf({podJson("a", "ps", ""), podJson("b", "ps", "")});
  CHECK(traffic.jobs.size() == 1);
}

TEST_CASE("the traffic order is written for parameter servers and for jobs that name a band") {
  model::Job job;
  job.created = base::WallTime(std::chrono::seconds(1'767'225'600));
  CHECK(codec::encodeTrafficOrder(job, "worker").empty());
  CHECK(codec::encodeTrafficOrder(job, "ps") == R"({"since":"2026-01-01T00:00:00Z"})");
  job.spec.network.band = 2;
  CHECK(codec::encodeTrafficOrder(job, "worker") == R"({"band":2,"since":"2026-01-01T00:00:00Z"})");
  job.spec.network = {.off = true};
  CHECK(codec::encodeTrafficOrder(job, "ps") == R"({"off":true})");
}

TEST_CASE("bursts are measured between their gaps") {
  BurstMeter meter;
  meter.begin();
  std::uint64_t sent = 0;
  for (int look = 0; look < 250; ++look) {
    // 5 samples of 100,000 bytes, then 15 of none: bursts of 100 ms, gaps of slightly more than 300 ms.
    if (look % 20 < 5) sent += 100'000;
    meter.look(base::Instant(std::chrono::milliseconds(20 * look)), {{"a", sent, false}, {"idle", 0, false}});
  }
  CHECK(!meter.end());  // the idle one had no burst
  const auto burst = meter.burstOf("a");
  REQUIRE(burst);
  CHECK(burst->bytes == 500'000);
  CHECK(burst->gap == std::chrono::milliseconds(320));
  CHECK(!meter.burstOf("idle"));
  meter.keep({"idle"});
  CHECK(!meter.burstOf("a"));
}

TEST_CASE("a job whose packets wait is within its burst") {
  BurstMeter meter;
  meter.begin();
  std::uint64_t sent = 0;
  for (int look = 0; look < 100; ++look) {
    const int at = look % 20;
    if (at == 0 || at == 9) sent += 1'000;
    meter.look(base::Instant(std::chrono::milliseconds(20 * look)), {{"a", sent, at < 9}});
  }
  CHECK(meter.end());
  REQUIRE(meter.burstOf("a"));
  CHECK(meter.burstOf("a")->bytes == 2'000);
}

TEST_CASE("the uplink and its rate") {
  const std::string head =
      "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";
  CHECK(defaultDevice(head + "wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n" +
                      "eth1\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n" +
                      "eth2\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n") == "eth1");
  CHECK(!defaultDevice(head));
  // A node without IPv4; the last line is the kernel's entry for a missing route.
  const std::string none(32, '0');
  const std::string way6 = none + " 00 " + none + " 00 fd000000000000000000000000000001 ";
  const std::string refuses =
      none + " 00 " + none + " 00 " + none + " ffffffff 00000001 00000000 00200200       lo\n";
  CHECK(defaultDevice6(way6 + "00000400 00000003 00000000 00000003     eth0\n" + way6 +
                       "00000064 00000003 00000000 00000003     eth1\n" + refuses)
            .value() == "eth1");
  CHECK(!defaultDevice6(refuses));
  CHECK(linkRate("25000\n") == 3'125'000'000u);
  CHECK(!linkRate("-1\n"));
  CHECK(parseRate("198mbit") == 24'750'000u);
  CHECK(!parseRate("fast"));
  CHECK(!parseRate("0mbit"));
}
