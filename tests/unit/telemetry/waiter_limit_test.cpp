#include "telemetry/waiter_limit.h"

#include <vector>

#include <catch2/catch.hpp>

namespace trainyard::telemetry::test {
namespace {

TEST_CASE("One address gets only a part of the capacity") {
  const auto limit = std::make_shared<WaiterLimit>();
  std::vector<std::shared_ptr<void>> assignments;
  for (std::size_t i = 0; i < WaiterLimit::kMaxOfAddress; ++i)
    assignments.push_back(limit->enter("10.0.0.1"));
  CHECK(assignments.back() != nullptr);
  CHECK(limit->enter("10.0.0.1") == nullptr);
  CHECK(limit->enter("10.0.0.2") != nullptr);
  assignments.pop_back();
  CHECK(limit->enter("10.0.0.1") != nullptr);
}

TEST_CASE("All addresses together have less capacity than a server has connections") {
  const auto limit = std::make_shared<WaiterLimit>();
  std::vector<std::shared_ptr<void>> assignments;
  for (std::size_t i = 0; i < WaiterLimit::kMax; ++i) {
    assignments.push_back(limit->enter(std::to_string(i)));
    CHECK(assignments.back() != nullptr);
  }
  CHECK(limit->enter("late") == nullptr);
  assignments.clear();
  CHECK(limit->enter("late") != nullptr);
}

}  // namespace
}  // namespace trainyard::telemetry::test
