#include "core/search/type_choice.h"

#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test

namespace {

TypeSeeker seeker(const std::string& name, std::map<std::string, int> worth, std::int64_t gpus = 8,
                  int priority = 0) {
  return {test::key("ml/" + name), priority, gpus, std::move(worth)};
}

using Chosen = std::map<std::string, std::string>;

Chosen choose(const std::vector<TypeSeeker>& seekers, std::map<std::string, std::int64_t> free) {
  Chosen chosen;
  for (const auto& [job, type] : chooseTypes(seekers, std::move(free))) chosen[job.name] = type;
  return chosen;
}

}  // namespace

TEST_CASE("gangs get the types with the largest sum of speeds in any order of the gangs") {
  const TypeSeeker even = seeker("even", {{"a100", 1000}, {"t4", 900}});
  const TypeSeeker steep = seeker("steep", {{"a100", 1000}, {"t4", 200}});
  const Chosen best{{"even", "t4"}, {"steep", "a100"}};
  CHECK(choose({even, steep}, {{"a100", 8}, {"t4", 8}}) == best);
  CHECK(choose({steep, even}, {{"a100", 8}, {"t4", 8}}) == best);
}

TEST_CASE("a gang that is alone or fits beside all others gets its fastest type") {
  const TypeSeeker even = seeker("even", {{"a100", 1000}, {"t4", 900}});
  const TypeSeeker steep = seeker("steep", {{"a100", 1000}, {"t4", 200}});
  CHECK(choose({even}, {{"a100", 8}, {"t4", 8}}) == Chosen{{"even", "a100"}});
  CHECK(choose({even, steep}, {{"a100", 16}, {"t4", 8}}) == Chosen{{"even", "a100"}, {"steep", "a100"}});
  CHECK(choose({even}, {{"a100", 4}, {"t4", 4}}).empty());
}

TEST_CASE("a gang of higher priority chooses first") {
  const TypeSeeker even = seeker("even", {{"a100", 1000}, {"t4", 900}}, 8, 10);
  const TypeSeeker steep = seeker("steep", {{"a100", 1000}, {"t4", 200}});
  CHECK(choose({even, steep}, {{"a100", 8}, {"t4", 8}}) == Chosen{{"even", "a100"}, {"steep", "t4"}});
}

TEST_CASE("no gang gives up its type for one that does not start and none waits") {
  // There is capacity for two: the third, with the largest gain, is not among them.
  const TypeSeeker even = seeker("even", {{"a100", 1000}, {"t4", 900}});
  const TypeSeeker other = seeker("other", {{"a100", 1000}, {"t4", 950}});
  const TypeSeeker steep = seeker("steep", {{"a100", 1000}, {"t4", 100}});
  CHECK(choose({even, other, steep}, {{"a100", 8}, {"t4", 8}}) == Chosen{{"even", "a100"}, {"other", "t4"}});
  // A large job that fits nowhere else keeps its type, even if a small job would gain more there.
  const TypeSeeker large = seeker("large", {{"a100", 1000}, {"t4", 990}}, 16);
  const TypeSeeker small = seeker("small", {{"a100", 1000}, {"t4", 100}}, 8);
  CHECK(choose({large, small}, {{"a100", 16}, {"t4", 8}}) == Chosen{{"large", "a100"}, {"small", "t4"}});
}

TEST_CASE("a gain counts by GPU and a sum that is not larger changes nothing") {
  const TypeSeeker first = seeker("first", {{"a100", 1000}, {"t4", 500}});
  const TypeSeeker second = seeker("second", {{"a100", 1000}, {"t4", 500}});
  CHECK(choose({first, second}, {{"a100", 8}, {"t4", 8}}) == Chosen{{"first", "a100"}, {"second", "t4"}});
}
