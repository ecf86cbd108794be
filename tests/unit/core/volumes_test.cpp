#include "core/ledger/volumes.h"

#include <catch2/catch.hpp>

#include "core/ledger/fit.h"
#include "support/builders.h"
#include "support/placing.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

struct Scene {
  model::VolumeClaim claim{{"ml", "data"}, "pv", "fast", true, false};
  model::Volume volume{
      "pv", std::vector<model::NodeSelectorTerm>{{{{"zone", model::SelectorOperator::kIn, {"b"}}}, {}}}};
  model::StorageClass storageClass{"fast", false};
  bool anyClaim = true;
  bool anyVolume = true;

  std::shared_ptr<const model::Job> tied() const {
    model::Job bert = job("ml/bert").role("worker", 2, gpus(1)).role("ps", 1, cpus(1));
    bert.spec.roles.front().shape.volumeClaims = {"data"};
    model::Volumes volumes;
    if (anyClaim) volumes.claims.push_back(std::make_shared<const model::VolumeClaim>(claim));
    if (anyVolume) volumes.volumes.push_back(std::make_shared<const model::Volume>(volume));
    volumes.classes.push_back(std::make_shared<const model::StorageClass>(storageClass));
    return withVolumes(std::make_shared<const model::Job>(bert), volumes);
  }
};

}  // namespace

TEST_CASE("a gang goes where its bound volume can be reached") {
  const auto tied = Scene().tied();
  CHECK(tied->volumeProblem.empty());
  CHECK(tied->spec.roles[1].shape.volumeAffinity.empty());
  const model::PodShape& shape = tied->spec.roles[0].shape;
  CHECK(nodeMisfit(node("n1").label("zone", "a"), shape)->text ==
        "is out of reach of a volume that the pods use");
  CHECK_FALSE(nodeMisfit(node("n1").label("zone", "a"), shape)->temporary());
  CHECK_FALSE(nodeMisfit(node("n1").label("zone", "b"), shape));
  CHECK(outcomeIn(cluster()
                      .add(node("n1").gpus(8).label("zone", "a"))
                      .add(node("n2").gpus(2).label("zone", "b"))
                      .add(model::Job(*tied)),
                  "ml/bert") == "node n2: n2:worker:0-1 n2:ps:0");
}

TEST_CASE("a volume that can be reached from everywhere ties nobody, nor does a job without volumes change") {
  Scene scene;
  scene.volume.affinity.reset();
  CHECK_FALSE(nodeMisfit(node("n1"), scene.tied()->spec.roles[0].shape));
  const auto plain = std::make_shared<const model::Job>(job("ml/bert").role("worker", 2, gpus(1)));
  CHECK(withVolumes(plain, {}) == plain);
}

TEST_CASE("a claim that keeps its pods from running is told by name") {
  Scene scene;
  const auto problem = [&] { return scene.tied()->volumeProblem; };
  const std::string begin = "the pods of role worker cannot run: PersistentVolumeClaim data ";
  SECTION("it does not exist") {
    scene.anyClaim = false;
    CHECK(problem() == begin + "does not exist");
  }
  SECTION("it goes away") {
    scene.claim.deleting = true;
    CHECK(problem() == begin + "is being deleted");
  }
  SECTION("its volume is gone") {
    scene.anyVolume = false;
    CHECK(problem() == begin + "is bound to volume pv, which does not exist");
  }
  SECTION("it is not bound") {
    scene.claim.bound = false;
    CHECK(problem() == begin + "is not bound to its volume pv yet");
    scene.claim.volume.clear();
    CHECK(problem() == begin + "is not bound yet, and its storage class fast does not wait for a pod");
    scene.storageClass.waitsForConsumer = true;
    CHECK(problem().empty());
    scene.claim.storageClass = "slow";
    CHECK(problem() == begin + "is not bound, and there is no storage class slow");
    scene.claim.storageClass.clear();
    CHECK(problem() == begin + "is not bound yet, and names no storage class");
  }
}
