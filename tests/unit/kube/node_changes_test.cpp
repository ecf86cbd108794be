#include <catch2/catch.hpp>

#include "kube/cluster_cache.h"

namespace trainyard::kube {
namespace {

TEST_CASE("that a node is away for another time is a change, though it was missed that it came back") {
  model::Node before;
  before.ready = false;
  before.readyChanged = base::WallTime(std::chrono::seconds(100));
  model::Node after = before;
  CHECK(CacheTraits<model::Node>::same(before, after));
  after.readyChanged += std::chrono::minutes(5);
  CHECK_FALSE(CacheTraits<model::Node>::same(before, after));
}

}  // namespace
}  // namespace trainyard::kube
