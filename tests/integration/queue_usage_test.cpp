#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lab.h"

// How soon a queue's status shows its usage.

namespace trainyard::test {
namespace {

constexpr const char* kQueue =
    R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"Queue","metadata":{"name":"vision"},"spec":{}})";

struct Watched {
  explicit Watched(Lab& cluster) : lab(cluster), number(cluster->operators().start()) {
    REQUIRE(lab->create(kQueue, ""));
    lab.run(15s);  // a lease, and everything that follows a start
  }

  [[nodiscard]] bool statusHas(std::int64_t gpus) const {
    const auto queue = lab->observer().cache().queues.find(model::QueueName("vision"));
    return queue && queue->status.usage.amount("nvidia.com/gpu") == gpus;
  }
  [[nodiscard]] bool metricHas(std::int64_t gpus) const {
    const std::string line = fmt::format("trainyard_queue_gpus{{queue=\"vision\"}} {}\n", gpus);
    return lab->operators().metricsOf(number).find(line) != std::string::npos;
  }

  Lab& lab;
  int number;
};

}  // namespace

TEST_CASE("a queue's status shows its usage within 2.5 seconds and its metric soon after") {
  Lab lab;
  Watched queue(lab);
  const auto follows = [&](std::int64_t gpus) {
    CHECK(lab.until([&] { return queue.statusHas(gpus); }, 2500ms));
    CHECK(lab.until([&] { return queue.metricHas(gpus); }, 500ms));
  };
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    lab.submit("bert", {.runFor = "", .extra = R"("queue":"vision")"});
    REQUIRE(lab.waitPhase("bert", "Running", 30s));
    follows(32);
    lab.deleteJob("bert");
    REQUIRE(lab.waitGone("bert", 60s));
    follows(0);
  }
  // Nothing else happens in the cluster, and there are no unnecessary writes.
  const auto version = lab->observer().cache().queues.find(model::QueueName("vision"))->resourceVersion;
  lab.run(300s);
  CHECK(lab->observer().cache().queues.find(model::QueueName("vision"))->resourceVersion == version);
  lab.requireSound();
}

TEST_CASE("a change right after a write of the status appears within three seconds") {
  Lab lab;
  Watched queue(lab);
  for (int round = 0; round < 5; ++round) {
    CAPTURE(round);
    lab.submit("one", {.workers = 1, .gpus = 8, .runFor = "", .extra = R"("queue":"vision")"});
    REQUIRE(lab.waitPhase("one", "Running", 30s));
    lab.run(std::chrono::milliseconds(400 * round));
    lab.deleteJob("one");
    REQUIRE(lab.waitGone("one", 60s));
    CHECK(lab.until([&] { return queue.statusHas(0) && queue.metricHas(0); }, 3s));
  }
  lab.requireSound();
}

}  // namespace trainyard::test
