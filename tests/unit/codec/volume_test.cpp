#include "codec/volume.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace trainyard;

TEST_CASE("volumes and claims and storage classes are read as far as they restrict nodes") {
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

TEST_CASE("a claim for more than can be counted is read all the same") {
  for (const char* size : {"9Ei", "9223372036854775807", "10E", "99999999999999999999999"}) {
    CAPTURE(size);
    const auto claim =
        codec::decodeVolumeClaim(fmt::format(R"({{"metadata":{{"namespace":"ml","name":"data"}},
            "spec":{{"resources":{{"requests":{{"storage":"{}"}}}}}}}})",
                                             size));
    REQUIRE(claim);
    CHECK(claim->bytes == 9'223'372'036'854'775);
    // A volume of the same size is large enough.
    const auto volume = codec::decodeVolume(
        fmt::format(R"({{"metadata":{{"name":"pv"}},"spec":{{"capacity":{{"storage":"{}"}}}}}})", size));
    REQUIRE(volume);
    CHECK(volume->bytes == claim->bytes);
  }
}

TEST_CASE("claims and volumes and drivers that restrict nodes before a volume is bound are read") {
  const auto claim = codec::decodeVolumeClaim(R"({"metadata":{"namespace":"ml","name":"data",
      "annotations":{"volume.kubernetes.io/selected-node":"n3"}},
      "spec":{"accessModes":["ReadWriteOncePod"],"resources":{"requests":{"storage":"1Gi"}}}})");
  REQUIRE(claim);
  CHECK(claim->modes.oncePod);
  CHECK(claim->modes.oneNode());
  CHECK(claim->bytes == 1 << 30);
  CHECK(claim->selectedNode.str() == "n3");
  const auto volume = codec::decodeVolume(R"({"metadata":{"name":"pv"},"spec":{"storageClassName":"local",
      "accessModes":["ReadWriteOnce","ReadOnlyMany"],"capacity":{"storage":"1Ki"},"csi":{"driver":"ebs"}},
      "status":{"phase":"Available"}})");
  REQUIRE(volume);
  CHECK(volume->available);
  CHECK_FALSE(volume->modes.oneNode());
  CHECK(volume->bytes == 1024);
  CHECK(volume->driver == "ebs");
  CHECK_FALSE(volume->sharedBackend);
  CHECK(codec::decodeVolume(R"({"metadata":{"name":"pv"},"spec":{"nfs":{"server":"s","path":"/"}}})")
            ->sharedBackend);
  const auto storageClass = codec::decodeStorageClass(R"({"metadata":{"name":"zonal",
      "annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"kubernetes.io/no-provisioner",
      "allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["z1","z2"]}]}]})");
  REQUIRE(storageClass);
  CHECK(storageClass->isDefault);
  CHECK(storageClass->isStatic());
  REQUIRE(storageClass->topologies);
  CHECK(storageClass->topologies->front().labels.front().values == std::vector<std::string>{"z1", "z2"});
  CHECK_FALSE(
      codec::decodeCsiDriver(R"({"metadata":{"name":"nfs"},"spec":{"attachRequired":false}})")->attaches);
  CHECK(codec::decodeCsiDriver(R"({"metadata":{"name":"ebs"},"spec":{}})")->attaches);
  const auto node = codec::decodeCsiNode(
      R"({"metadata":{"name":"n1"},"spec":{"drivers":[{"name":"nfs"},{"name":"ebs","allocatable":{"count":25}}]}})");
  REQUIRE(node);
  CHECK(node->limits == std::vector<std::pair<std::string, std::int64_t>>{{"ebs", 25}});
}
