#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "operator/body_window.h"

using trainyard::operator_::BodyWindow;

TEST_CASE("No more bodies than the window holds are made and in order of arrival") {
  BodyWindow window(100);
  std::vector<int> made;
  for (int i = 0; i < 5; ++i) window.enter("a", 40, [&made, i] { made.push_back(i); });
  CHECK(made == std::vector<int>{0, 1});
  window.leave(40);
  CHECK(made == std::vector<int>{0, 1, 2});
  window.leave(40);
  window.leave(40);
  CHECK(made == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("A body larger than the window is made alone and small ones do not overtake it") {
  BodyWindow window(100);
  std::vector<int> made;
  window.enter("a", 40, [&] { made.push_back(0); });
  window.enter("a", 400, [&] { made.push_back(1); });
  window.enter("a", 1, [&] { made.push_back(2); });
  CHECK(made == std::vector<int>{0});
  window.leave(40);
  CHECK(made == std::vector<int>{0, 1});
  window.leave(400);
  CHECK(made == std::vector<int>{0, 1, 2});
}

TEST_CASE("Bodies of another namespace wait for one of the first namespace and not for all") {
  BodyWindow window(100);
  std::vector<std::string> made;
  const auto enter = [&](const std::string& ns, std::size_t bytes) {
    window.enter(ns, bytes, [&made, ns] { made.push_back(ns); });
  };
  for (int i = 0; i < 1000; ++i) enter("heavy", 50);
  for (int i = 0; i < 2; ++i) enter("small", 1);
  enter("another", 1);
  CHECK(made == std::vector<std::string>{"heavy", "heavy"});
  window.leave(50);
  CHECK(made == std::vector<std::string>{"heavy", "heavy", "small", "another"});
  window.leave(1);
  window.leave(1);
  CHECK(made == std::vector<std::string>{"heavy", "heavy", "small", "another", "heavy"});
  window.leave(50);
  CHECK(made.back() == "small");
}

TEST_CASE("Small bodies of other namespaces do not hold up a large one") {
  BodyWindow window(100);
  std::vector<std::string> made;
  const auto enter = [&](const std::string& ns, std::size_t bytes) {
    window.enter(ns, bytes, [&made, ns] { made.push_back(ns); });
  };
  for (int i = 0; i < 100; ++i) enter("small", 10);
  enter("large", 90);
  for (int i = 0; i < 8; ++i) window.leave(10);
  CHECK(made.back() == "small");
  window.leave(10);
  CHECK(made.back() == "large");
}

TEST_CASE("Answers that arrive at once cost no stack") {
  BodyWindow window(1);
  int made = 0;
  window.enter("a", 1, [&] { ++made; });
  for (int i = 0; i < 200'000; ++i) {
    window.enter("a", 1, [&] {
      ++made;
      window.leave(1);
    });
  }
  CHECK(made == 1);
  window.leave(1);
  CHECK(made == 200'001);
}
