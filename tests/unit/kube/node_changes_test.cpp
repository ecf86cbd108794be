#include <catch2/catch.hpp>

#include "kube/cluster_cache.h"

namespace trainyard::kube {
namespace {

TEST_CASE("a second absence of a node is a change even if its return was missed") {
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
