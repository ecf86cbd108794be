#include <catch2/catch.hpp>

#include "sim/api/selectors.h"

namespace trainyard::sim {
namespace {

bool matches(const std::string& labels, const std::string& fields, const Json& object) {
  const auto selector =
      Selector::parse(labels, fields, {"metadata.name", "spec.nodeName", "spec.unschedulable"});
  REQUIRE(selector.has_value());
  return selector->matches(object);
}

const Json kPod = {{"metadata", {{"name", "a"}, {"labels", {{"app", "x"}, {"tier", "2"}}}}},
                   {"spec", {{"nodeName", "n1"}}}};

TEST_CASE("label selectors follow the grammar of Kubernetes") {
  CHECK(matches("", "", kPod));
  CHECK(matches("app=x,tier", "", kPod));
  CHECK(matches("app==x", "", kPod));
  CHECK_FALSE(matches("app!=x", "", kPod));
  CHECK(matches("none!=x", "", kPod));
  CHECK(matches("app in (x, y)", "", kPod));
  CHECK_FALSE(matches("app notin (x,y)", "", kPod));
  CHECK(matches("!none", "", kPod));
  CHECK_FALSE(matches("!app", "", kPod));
  CHECK(matches("tier>1,tier<3", "", kPod));
  CHECK_FALSE(matches("tier>2", "", kPod));
}

TEST_CASE("a label selector that does not parse is a bad request") {
  for (const char* text : {"app=x,,y", "app in x", "app in (x", "=x", "app=not a label", "app>x", "app,"}) {
    INFO(text);
    const auto selector = Selector::parse(text, "", {});
    REQUIRE_FALSE(selector.has_value());
    CHECK(selector.error().code == 400);
  }
}

TEST_CASE("field selectors compare text and only fields that are offered") {
  CHECK(matches("", "spec.nodeName=n1,metadata.name!=b", kPod));
  CHECK_FALSE(matches("", "spec.nodeName=", kPod));
  CHECK(matches("", "spec.unschedulable=false", kPod));
  CHECK(Selector::parse("", "spec.containers=1", {"metadata.name"}).error().code == 400);
}

}  // namespace
}  // namespace trainyard::sim
