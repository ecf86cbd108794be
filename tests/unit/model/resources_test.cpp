#include "model/resources.h"

#include <catch2/catch.hpp>

#include <limits>

#include "support/builders.h"
#include "support/gpu_resources.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

model::Resources with(std::string_view name, std::int64_t amount) {
  model::Resources resources;
  resources.setExtended(name, amount);
  return resources;
}

}  // namespace

TEST_CASE("resources: sums and differences per resource") {
  model::Resources total = requests(2, 3, 4);
  total.add(requests(1, 1, 1));
  CHECK(total.gpus() == 3);
  CHECK(total.cpu.value == 4000);
  CHECK(total.memory.value == 5 * kGi);
  CHECK(total.pods == 2);
  total.subtract(requests(4, 5, 6));
  CHECK(total.gpus() == -1);
  CHECK(total.cpu.value == -1000);
  CHECK(total.memory.value == -kGi);
}

TEST_CASE("resources: zeros of extended resources are dropped so that equal amounts compare equal") {
  model::Resources amount = with("a/b", 2);
  amount.subtract(with("a/b", 2));
  CHECK(amount == model::Resources{});
  CHECK(amount.extendedAll().empty());
}

TEST_CASE("resources: absurd amounts saturate instead of becoming small") {
  model::Resources amount = with("a/b", kHuge);
  amount.add(with("a/b", 1));
  CHECK(amount.extended("a/b") == kHuge);
  CHECK(with("a/b", kHuge / 2).times(3).extended("a/b") == kHuge);
  model::Resources low = with("a/b", std::numeric_limits<std::int64_t>::min());
  low.subtract(with("a/b", 1));
  CHECK(low.extended("a/b") == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("resources: sums of different names stay in order for any order of the names") {
  model::Resources amount;
  for (const char* name : {"d/1", "b/1", "f/1"}) amount.setExtended(name, 1);
  model::Resources more;
  for (const char* name : {"a/1", "b/1", "e/1", "g/1"}) more.setExtended(name, 2);
  amount.add(more);
  CHECK(amount.extendedAll() ==
        model::Resources::Extended{{"a/1", 2}, {"b/1", 3}, {"d/1", 1}, {"e/1", 2}, {"f/1", 1}, {"g/1", 2}});
  amount.subtract(more);
  CHECK(amount.extendedAll() == model::Resources::Extended{{"b/1", 1}, {"d/1", 1}, {"f/1", 1}});
  amount.raiseTo(more);
  CHECK(amount.extendedAll() ==
        model::Resources::Extended{{"a/1", 2}, {"b/1", 2}, {"d/1", 1}, {"e/1", 2}, {"f/1", 1}, {"g/1", 2}});
}

TEST_CASE("resources: covers ignores what is not requested") {
  model::Resources have = requests(8, 16, 32);
  have.ephemeralStorage.value = -5;
  CHECK(have.covers(requests(8, 16, 32)));
  CHECK_FALSE(have.covers(requests(9, 0)));
  CHECK_FALSE(have.covers(requests(0, 17)));
  CHECK_FALSE(have.covers(with("vendor/nic", 1)));
  CHECK(have.covers({}));
}

TEST_CASE("resources: the shortfall names the first resource that is missing") {
  const model::Resources have = requests(4, 8);
  CHECK_FALSE(have.shortfallFor(requests(4, 8)));
  CHECK(have.shortfallFor(requests(5, 9))->resource == "cpu");
  const auto gpuShortfall = have.shortfallFor(requests(5, 8)).value();
  CHECK(gpuShortfall.resource == "nvidia.com/gpu");
  CHECK(gpuShortfall.wanted == 5);
  CHECK(gpuShortfall.available == 4);
}

TEST_CASE("resources: how many times something fits") {
  CHECK(requests(8, 16).timesCovered(gpus(2), 100) == 1);  // one pod slot in this amount
  model::Resources have = requests(8, 16);
  have.pods = 110;
  CHECK(have.timesCovered(gpus(2), 100) == 4);
  CHECK(have.timesCovered(gpus(2), 3) == 3);
  CHECK(have.timesCovered(requests(2, 8), 100) == 2);
  CHECK(have.timesCovered(gpus(9), 100) == 0);
  have.setExtended("nvidia.com/gpu", -3);
  CHECK(have.timesCovered(gpus(1), 100) == 0);
}

TEST_CASE("resources: raiseTo takes the larger of each") {
  model::Resources amount = requests(1, 8);
  amount.raiseTo(requests(4, 2));
  CHECK(amount.gpus() == 4);
  CHECK(amount.cpu.value == 8000);
}

// A native resource that one of these functions does not count would be free of charge.
TEST_CASE("resources: every function counts every native resource") {
  model::forEachNative([](const auto& native) {
    CAPTURE(native.name);
    const auto of = [&](std::int64_t amount) {
      model::Resources resources;
      native.in(resources) = amount;
      return resources;
    };
    model::Resources changed = of(6);
    CHECK(changed.amount(native.name) == 6);
    CHECK(changed != of(5));
    changed.add(of(4));
    CHECK(native.in(changed) == 10);
    changed.subtract(of(8));
    CHECK(native.in(changed) == 2);
    changed.raiseTo(of(5));
    CHECK(native.in(changed) == 5);
    changed.subtractUpTo(of(8));
    CHECK(native.in(changed) == 0);
    changed.setAmount(native.name, 4);
    CHECK(native.in(changed) == 4);
    changed = changed.times(3);
    CHECK(native.in(changed) == 12);
    CHECK(model::nativeUnit(native.name) == native.unit);
    CHECK(of(6).covers(of(6)));
    CHECK_FALSE(of(6).covers(of(7)));
    CHECK(of(6).timesCovered(of(2), 100) == 3);
    CHECK_FALSE(of(6).shortfallFor(of(6)));
    const auto shortfall = of(6).shortfallFor(of(7)).value();
    CHECK(shortfall.resource == native.name);
    CHECK(shortfall.wanted == 7);
    CHECK(shortfall.available == 6);
  });
  CHECK_FALSE(model::nativeUnit("nvidia.com/gpu"));
  model::Resources both = with("a/b", 2);
  both.setAmount("a/b", 3);
  CHECK(both.amount("a/b") == 3);
  CHECK(both.extended("a/b") == 3);
}

TEST_CASE("resources: GPUs are all resources that the setting names") {
  model::Resources node = with("nvidia.com/gpu", 8);
  node.setExtended("amd.com/gpu", 4);
  node.setExtended("nvidia.com/mig-1g.5gb", 7);
  CHECK(node.gpus() == 8);
  {
    const GpuResources setting({"amd.com/gpu", "nvidia.com/mig-1g.5gb"});
    CHECK(node.gpus() == 11);
    CHECK(model::isGpuResource("amd.com/gpu"));
    CHECK_FALSE(model::isGpuResource("nvidia.com/gpu"));
    node.setExtended("amd.com/gpu", kHuge);
    CHECK(node.gpus() == kHuge);
  }
  CHECK(node.gpus() == 8);
}
