#include "model/topology.h"

#include <catch2/catch.hpp>

#include <regex>
#include <set>

using namespace trainyard::model;  // NOLINT(google-build-using-namespace): test

TEST_CASE("every topology preset goes from zone to node and has each level once") {
  for (const std::string& name : topologyPresetNames()) {
    INFO(name);
    const auto levels = topologyPreset(name).value();
    REQUIRE(levels.size() >= 3);
    CHECK(levels.front().labelKey == "topology.kubernetes.io/zone");
    CHECK(levels.back().name == "node");
    CHECK(levels.back().labelKey == "kubernetes.io/hostname");
    std::set<std::string> names;
    std::set<std::string> keys;
    for (const TopologyLevel& level : levels) {
      // The names that spec.locality accepts.
      CHECK(std::regex_match(level.name, std::regex("[a-z]([-a-z0-9]*[a-z0-9])?")));
      CHECK(level.name.size() <= 32);
      names.insert(level.name);
      keys.insert(level.labelKey);
    }
    CHECK(names.size() == levels.size());
    CHECK(keys.size() == levels.size());
  }
}

TEST_CASE("the default levels are a preset and an unknown preset is none") {
  CHECK(topologyPreset("default") == defaultTopologyLevels());
  CHECK_FALSE(topologyPreset("ethernet"));
  CHECK_FALSE(topologyPreset(""));
}
