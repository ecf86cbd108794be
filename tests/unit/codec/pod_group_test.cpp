#include "codec/pod_group.h"

#include <catch2/catch.hpp>

namespace trainyard::codec {
namespace {

TEST_CASE("PodGroups are served where scheduling.k8s.io has another version than that of PriorityClasses") {
  const auto versionIn = [](std::string_view versions) {
    const std::string group =
        std::string(R"({"kind":"APIGroup","versions":[)") + std::string(versions) + "]}";
    return podGroupVersion(group).value();
  };
  CHECK(versionIn(R"({"groupVersion":"scheduling.k8s.io/v1","version":"v1"})").empty());
  CHECK(versionIn(R"({"version":"v1"},{"version":"v1alpha2"})") == "v1alpha2");
  CHECK(versionIn(R"({"version":"v1beta1"},{"version":"v1"})") == "v1beta1");
  CHECK_FALSE(podGroupVersion("[]"));
}

}  // namespace
}  // namespace trainyard::codec
