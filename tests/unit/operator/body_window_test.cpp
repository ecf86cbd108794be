#include <functional>
#include <vector>

#include <catch2/catch.hpp>

#include "operator/body_window.h"

using trainyard::operator_::BodyWindow;

TEST_CASE("No more bodies than the window holds, in the order in which they came") {
  BodyWindow window(100);
  std::vector<int> made;
  for (int i = 0; i < 5; ++i) window.enter(40, [&made, i] { made.push_back(i); });
  CHECK(made == std::vector<int>{0, 1});
  window.leave(40);
  CHECK(made == std::vector<int>{0, 1, 2});
  window.leave(40);
  window.leave(40);
  CHECK(made == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("A body larger than the window passes alone, and small ones do not pass it by") {
  BodyWindow window(100);
  std::vector<int> made;
  window.enter(40, [&] { made.push_back(0); });
  window.enter(400, [&] { made.push_back(1); });
  window.enter(1, [&] { made.push_back(2); });
  CHECK(made == std::vector<int>{0});
  window.leave(40);
  CHECK(made == std::vector<int>{0, 1});
  window.leave(400);
  CHECK(made == std::vector<int>{0, 1, 2});
}

TEST_CASE("Answers that come at once cost no stack") {
  BodyWindow window(1);
  int made = 0;
  window.enter(1, [&] { ++made; });
  for (int i = 0; i < 200'000; ++i) {
    window.enter(1, [&] {
      ++made;
      window.leave(1);
    });
  }
  CHECK(made == 1);
  window.leave(1);
  CHECK(made == 200'001);
}
