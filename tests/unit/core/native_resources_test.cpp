#include <algorithm>

#include <catch2/catch.hpp>

#include "core/place/shape_key.h"
#include "core/queues/quota_dimensions.h"
#include "support/builders.h"

// What has to see each row of model::kNativeResources; sums and comparisons are in the model's own test.

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

TEST_CASE("jobs that differ in one native resource have different shapes") {
  const model::Job plain = job("ml/a").role("worker", 1, gpus(1));
  model::forEachNative([&](const auto& native) {
    CAPTURE(native.name);
    model::Job larger = plain;
    ++native.in(larger.spec.roles.front().shape.requests);
    CHECK(core::shapeKey(larger) != core::shapeKey(plain));
  });
}

TEST_CASE("a quota of any native resource is charged with what jobs request of it") {
  model::forEachNative([](const auto& native) {
    CAPTURE(native.name);
    model::Queue queue;
    queue.name = model::QueueName("a");
    queue.guaranteed.set(native.name, 5);
    const core::QuotaDimensions dimensions(cluster().add(queue).build());
    model::Resources asked;
    native.in(asked) = 7;
    core::Amounts amounts = dimensions.none();
    dimensions.addRequests(asked, 2, amounts);
    const auto& names = dimensions.names();
    const auto at = std::find(names.begin(), names.end(), native.name);
    REQUIRE(at != names.end());
    CHECK(amounts[static_cast<std::size_t>(at - names.begin())] == 14);
    CHECK(dimensions.amountIn(asked, static_cast<std::size_t>(at - names.begin())) == 7);
  });
}
