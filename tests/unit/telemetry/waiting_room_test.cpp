#include "telemetry/waiting_room.h"

#include <vector>

#include <catch2/catch.hpp>

namespace trainyard::telemetry::test {
namespace {

TEST_CASE("One address takes a part of the room only") {
  const auto room = std::make_shared<WaitingRoom>();
  std::vector<std::shared_ptr<void>> places;
  for (std::size_t i = 0; i < WaitingRoom::kMostOfAddress; ++i) places.push_back(room->enter("10.0.0.1"));
  CHECK(places.back() != nullptr);
  CHECK(room->enter("10.0.0.1") == nullptr);
  CHECK(room->enter("10.0.0.2") != nullptr);
  places.pop_back();
  CHECK(room->enter("10.0.0.1") != nullptr);
}

TEST_CASE("All together have room for less than a server has connections") {
  const auto room = std::make_shared<WaitingRoom>();
  std::vector<std::shared_ptr<void>> places;
  for (std::size_t i = 0; i < WaitingRoom::kMost; ++i) {
    places.push_back(room->enter(std::to_string(i)));
    CHECK(places.back() != nullptr);
  }
  CHECK(room->enter("late") == nullptr);
  places.clear();
  CHECK(room->enter("late") != nullptr);
}

}  // namespace
}  // namespace trainyard::telemetry::test
