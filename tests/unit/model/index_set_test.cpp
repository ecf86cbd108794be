#include "model/index_set.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using trainyard::model::IndexSet;

namespace {

IndexSet setOf(std::vector<int> indices) { return IndexSet(std::move(indices)); }

}  // namespace

TEST_CASE("index sets: they are written compactly and read back") {
  CHECK(setOf({3, 0, 1, 2, 7, 7}).str() == "0-3,7");
  CHECK(setOf({}).str().empty());
  CHECK(setOf({5}).str() == "5");
  CHECK(setOf({0, 2, 4}).str() == "0,2,4");
  for (const char* text : {"", "0", "0-3,7", "1,3,5-99999"})
    CHECK(IndexSet::parse(text).value().str() == text);
  CHECK(IndexSet::parse("0-1,2-3").value().str() == "0-3");
}

TEST_CASE("index sets: anything else is refused") {
  for (const char* text : {"-", "1-", "-1", "3-1", "1,1", "2,1", "1,", ",1", "a", "1 2", "100000", "0-100000",
                           "1--2", "-0", "0--0", "+1", "0-3,2", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(IndexSet::parse(text));
  }
  CHECK(IndexSet::parse(std::string(100'000, 'x')).error().message.size() < 200);
}

TEST_CASE("index sets: membership") {
  const IndexSet set = setOf({1, 3});
  CHECK(set.contains(1));
  CHECK_FALSE(set.contains(2));
  CHECK(set.size() == 2);
}
