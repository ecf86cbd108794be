#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "model/charge.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

model::Queue queue(std::string_view name, std::string_view parent = "") {
  model::Queue made;
  made.name = model::QueueName(name);
  made.parent = model::QueueName(parent);
  return made;
}

// Holds a node of eight GPUs and is not preemptible.
model::Job holds(std::string_view name, std::string_view nodeName, std::string_view charged) {
  model::Job made = job(name).role("worker", 1, gpus(8)).queue(charged).placed(nodeName, "worker", "0");
  made.spec.preemptible = false;
  made.status.gang.lastEpoch = 1;
  made.status.gang.charge = model::makeCharge(made.spec, model::QueueName(charged), 0);
  made.status.gpus = 8;
  return made;
}

std::int64_t lossOf(const SnapshotBuilder& builder) {
  CycleInput in;
  in.snapshot = builder.build();
  in.term = 4;
  for (const auto& each : in.snapshot.jobs) in.feedback[each->key] = {.templateError = ""};
  return cycle(in).fairnessLossPermille;
}

// Each queue name holds one node.
SnapshotBuilder sixteen(std::string_view first, std::string_view second) {
  return cluster()
      .now(1'000)
      .add(node("n1").gpus(8))
      .add(node("n2").gpus(8))
      .add(queue("speech"))
      .add(queue("vision"))
      .add(holds("ml/a", "n1", first))
      .add(holds("ml/b", "n2", second));
}

}  // namespace

TEST_CASE("without pending jobs there is no loss of fairness") {
  CHECK(lossOf(sixteen("vision", "vision")) == 0);
  CHECK(lossOf(cluster().now(1'000).add(node("n1").gpus(8))) == 0);
}

TEST_CASE("the loss is what one queue holds beyond its share and another one lacks") {
  auto builder = sixteen("vision", "vision");
  // Each queue is entitled to eight: vision holds 16, speech nothing. (8 + 8) of 2 x 16.
  builder.add(job("ml/waits").role("worker", 1, gpus(8)).queue("speech"));
  CHECK(lossOf(builder) == 500);
}

TEST_CASE("a pending job of a queue at its share adds no loss") {
  auto builder = sixteen("vision", "speech");
  builder.add(job("ml/waits").role("worker", 1, gpus(8)).queue("speech"));
  CHECK(lossOf(builder) == 0);
}

TEST_CASE("an inner queue counts without those below it") {
  auto builder = cluster()
                     .now(1'000)
                     .add(node("n1").gpus(8))
                     .add(node("n2").gpus(8))
                     .add(queue("org"))
                     .add(queue("team", "org"))
                     .add(holds("ml/a", "n1", "team"))
                     .add(holds("ml/b", "n2", "team"));
  CHECK(lossOf(builder) == 0);
  // Jobs of the queue itself compete with those of its child: eight each.
  builder.add(job("ml/waits").role("worker", 1, gpus(8)).queue("org"));
  CHECK(lossOf(builder) == 500);
}
