#include "base/pattern_set.h"

#include <catch2/catch.hpp>

using namespace trainyard;

TEST_CASE("all matching patterns are found in one pass over any bytes") {
  const std::vector<std::string> patterns = {"ab+c", "^x", "(?i)ERROR", "\\bz\\b"};
  const auto set = base::PatternSet::compile(patterns);
  REQUIRE(set);
  std::vector<int> found = {7};
  set->match("xx abbc error", found);
  CHECK(found == std::vector<int>{0, 1, 2});
  set->match(std::string("\xff\x00 z \xc3", 6), found);
  CHECK(found == std::vector<int>{3});
  set->match("", found);
  CHECK(found.empty());
}

TEST_CASE("an empty set matches nothing and an invalid pattern reports its error") {
  const auto none = base::PatternSet::compile({});
  REQUIRE(none);
  std::vector<int> found;
  none->match("anything", found);
  CHECK(found.empty());
  CHECK(base::patternError("a(b") == "missing ): a(b");
  CHECK(base::patternError("(?=a)").find("invalid perl operator") != std::string::npos);
  CHECK(base::patternError("a.*b").empty());
}
