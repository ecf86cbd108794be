#include "codec/volume.h"

#include <catch2/catch.hpp>

using namespace trainyard;

TEST_CASE("of volumes, claims and storage classes only what decides about places is read") {
  CHECK(codec::decodeVolumeClaim(R"({"metadata":{"namespace":"ml","name":"data"},"spec":{"volumeName":"pv",
          "storageClassName":"fast"},"status":{"phase":"Bound"}})")
            .value() == model::VolumeClaim{{"ml", "data"}, "pv", "fast", true, false});
  CHECK(codec::decodeVolumeClaim(R"({"metadata":{"namespace":"ml","name":"data",
          "deletionTimestamp":"2026-11-21T10:00:00Z"},"spec":{},"status":{"phase":"Pending"}})")
            .value() == model::VolumeClaim{{"ml", "data"}, "", "", false, true});
  const auto volume = codec::decodeVolume(R"({"metadata":{"name":"pv"},"spec":{"nodeAffinity":{"required":
    {"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["b"]}]}]}}}})");
  REQUIRE(volume);
  REQUIRE(volume->affinity);
  CHECK(volume->affinity->front().labels.front().key == "zone");
  CHECK_FALSE(codec::decodeVolume(R"({"metadata":{"name":"pv"},"spec":{}})")->affinity);
  CHECK(
      codec::decodeStorageClass(R"({"metadata":{"name":"fast"},"volumeBindingMode":"WaitForFirstConsumer"})")
          ->waitsForConsumer);
  CHECK_FALSE(codec::decodeStorageClass(R"({"metadata":{"name":"fast"}})")->waitsForConsumer);
}
