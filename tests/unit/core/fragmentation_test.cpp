#include "core/place/fragmentation.h"

#include <limits>

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

TaskShape whole(std::int64_t devices, std::int64_t cpu = 1) { return {cpu, 1, devices, kWholeDevice, 0}; }
TaskShape part(std::int64_t milli) { return {1, 1, 1, milli, 0}; }

DeviceCapacity capacity(std::int64_t wholeDevices, std::vector<std::int64_t> shared = {},
                        std::int64_t cpu = 100) {
  DeviceCapacity made{cpu, 100, 1, wholeDevices, {}, shared.size()};
  std::copy(shared.begin(), shared.end(), made.shared.begin());
  return made;
}

std::int64_t paper(const DeviceCapacity& node, const TaskShape& task) {
  return unusable(node, task, FragmentMeasure::kFirstTask);
}

}  // namespace

TEST_CASE("free devices are useless to a task that does not fit and a remainder to a larger part") {
  CHECK(paper(capacity(3), whole(4)) == 3000);
  CHECK(paper(capacity(3), whole(2)) == 0);
  CHECK(paper(capacity(3, {400, 700}), whole(2)) == 1100);
  CHECK(paper(capacity(0, {400, 700}), part(500)) == 400);
  CHECK(paper(capacity(0, {400, 700}), part(800)) == 1100);
  CHECK(paper(capacity(1, {400}), part(800)) == 400);
  // Devices without enough cpu to use them.
  CHECK(paper(capacity(3, {}, 4), whole(1, 8)) == 3000);
}

TEST_CASE("our measure also counts devices that such tasks would leave without cpu or memory") {
  const auto ours = [](const DeviceCapacity& node, const TaskShape& task) {
    return unusable(node, task, FragmentMeasure::kFed);
  };
  // One task of 4 cores fits into 7; two of them can use two of eight devices.
  CHECK(paper(capacity(8, {}, 7), whole(1, 4)) == 0);
  CHECK(ours(capacity(8, {}, 7), whole(1, 4)) == 6000);
  CHECK(ours(capacity(8, {}, 16), whole(1, 4)) == 0);
  CHECK(ours(capacity(8, {}, 7), whole(4, 4)) == 0);
  CHECK(ours({100, 7, 1, 8, {}, 0}, {0, 4, 1, kWholeDevice, 0}) == 6000);
  // Never less than the paper's value.
  CHECK(ours(capacity(1, {400}), part(800)) == 400);
  CHECK(ours(capacity(3), whole(4)) == 3000);
  CHECK(ours(capacity(0), whole(0)) == 0);
  CHECK(ours(capacity(8, {}, 7), {0, 0, 1, kWholeDevice, 0}) == 0);
}

TEST_CASE("a task for other models of GPU does not fit") {
  TaskShape task = whole(1);
  task.models = 6;
  CHECK_FALSE(capacity(8).fits(task));
  task.models = 5;
  CHECK(capacity(8).fits(task));
  CHECK(capacity(8).fits({1, 1, 0, kWholeDevice, 2}));
}

TEST_CASE("taking a part opens a device or narrows an open one") {
  DeviceCapacity node = capacity(2);
  node.take(part(300));
  CHECK(node.whole == 1);
  CHECK(node.deviceAmount() == 1700);
  node.take(part(300), 0);
  CHECK(node.whole == 1);
  CHECK(node.shared[0] == 400);
  node.take(whole(1, 10));
  CHECK(node.whole == 0);
  CHECK(node.cpu == 88);
  CHECK(node.fits(part(400)));
  CHECK_FALSE(node.fits(part(401)));
}

TEST_CASE("the mix weighs each kind once and ignores kinds without devices") {
  JobMix mix;
  mix.add(whole(4), 2);
  mix.add(whole(1), 5);
  mix.add(whole(4), 1);
  mix.add(whole(0), 1000);
  mix.add(whole(2), 0);
  REQUIRE(mix.entries().size() == 2);
  CHECK(fragmentation(capacity(3), mix) == 3 * 3000);
  CHECK(fragmentation(capacity(4), mix) == 0);
  CHECK(fragmentation(capacity(0), mix) == 0);
}

TEST_CASE("sums of absurd amounts stay at the end of their range") {
  JobMix mix;
  mix.add(whole(2), std::numeric_limits<std::int64_t>::max());
  mix.add(whole(3), std::numeric_limits<std::int64_t>::max());
  CHECK(fragmentation(capacity(1), mix) == std::numeric_limits<std::int64_t>::max());
  CHECK(fragmentation(capacity(std::numeric_limits<std::int64_t>::max(), {}, 0), mix) ==
        std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("the observed mix is what unfinished jobs request by the members of each shape") {
  const model::Snapshot snapshot = cluster()
                                       .add(job("x/a").role("worker", 4, gpus(8)).role("ps", 2, gpus(0)))
                                       .add(job("x/b").role("worker", 2, gpus(8)))
                                       .add(job("x/c").role("worker", 3, gpus(1)))
                                       .add(job("x/d").role("worker", 3, gpus(2)).condition("Succeeded"))
                                       .build();
  const JobMix mix = observedMix(snapshot.jobs);
  REQUIRE(mix.entries().size() == 2);
  std::int64_t ones = 0;
  std::int64_t eights = 0;
  for (const JobMix::Entry& entry : mix.entries()) (entry.task.devices == 1 ? ones : eights) = entry.weight;
  CHECK(ones == 3);
  CHECK(eights == 6);
}

TEST_CASE("the mix has the heaviest of many shapes") {
  SnapshotBuilder builder = cluster();
  for (int i = 1; i <= 40; ++i) builder.add(job(fmt::format("x/j{}", i)).role("worker", 1, gpus(i)));
  const JobMix mix = observedMix(builder.build().jobs);
  REQUIRE(mix.entries().size() == kMixShapes);
  for (const JobMix::Entry& entry : mix.entries()) CHECK(entry.task.devices > 8);
}
