#include "codec/queue.h"

#include <catch2/catch.hpp>

#include "codec/priority_class.h"

using namespace trainyard;

TEST_CASE("a queue is projected, with its defaults") {
  const auto queue = codec::decodeQueue(
      R"({"metadata":{"name":"vision","uid":"q1"},"spec":{"parent":"research","weight":3}})");
  REQUIRE(queue);
  CHECK(queue->name.str() == "vision");
  CHECK(queue->parent.str() == "research");
  CHECK(queue->weight == 3);
  CHECK(codec::decodeQueue(R"({"metadata":{"name":"a"},"spec":{}})")->weight == 1);
  CHECK(codec::decodeQueue(R"({"metadata":{"name":"a"},"spec":{"weight":"3"}})").error().message ==
        R"(queue a: spec.weight: expected an integer, is "3")");
}

TEST_CASE("a priority class is projected") {
  const auto found =
      codec::decodePriorityClass(R"({"metadata":{"name":"high"},"value":1000,"globalDefault":true})");
  REQUIRE(found);
  CHECK(found->name == "high");
  CHECK(found->value == 1000);
  CHECK(found->globalDefault);
  CHECK(codec::decodePriorityClass(R"({"metadata":{"name":"low"},"value":1e3})").error().message ==
        "priority class low: value: expected an integer, is 1000.0");
}
