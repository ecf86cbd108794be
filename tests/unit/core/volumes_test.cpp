#include "core/ledger/volumes.h"

#include <catch2/catch.hpp>

#include "core/ledger/node_misfit.h"
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
    return withVolumes(std::make_shared<const model::Job>(bert), volumes, "node");
  }
};

}  // namespace

TEST_CASE("a gang goes where its bound volume can be reached") {
  const auto tied = Scene().tied();
  CHECK(tied->volumeProblem.empty());
  CHECK(tied->spec.roles[1].shape.volumeAffinity.empty());
  const model::PodShape& shape = tied->spec.roles[0].shape;
  CHECK(nodeMisfit(node("n1").label("zone", "a"), shape)->text == "cannot reach a volume that the pods use");
  CHECK_FALSE(nodeMisfit(node("n1").label("zone", "b"), shape));
  CHECK(outcomeIn(cluster()
                      .add(node("n1").gpus(8).label("zone", "a"))
                      .add(node("n2").gpus(2).label("zone", "b"))
                      .add(model::Job(*tied)),
                  "ml/bert") == "node n2: n2:worker:0-1 n2:ps:0");
}

TEST_CASE("volumes that are reachable from everywhere and jobs without volumes restrict nothing") {
  Scene scene;
  scene.volume.affinity.reset();
  CHECK_FALSE(nodeMisfit(node("n1"), scene.tied()->spec.roles[0].shape));
  const auto plain = std::make_shared<const model::Job>(job("ml/bert").role("worker", 2, gpus(1)));
  CHECK(withVolumes(plain, {}, "node") == plain);
}

TEST_CASE("a PersistentVolumeClaim that prevents its pods from running is named") {
  Scene scene;
  const auto problem = [&] { return scene.tied()->volumeProblem; };
  const std::string begin = "the pods of role worker cannot run: PersistentVolumeClaim data ";
  SECTION("it does not exist") {
    scene.anyClaim = false;
    CHECK(problem() == begin + "does not exist");
  }
  SECTION("it is being deleted") {
    scene.claim.deleting = true;
    CHECK(problem() == begin + "is being deleted");
  }
  SECTION("its volume does not exist") {
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

namespace {

// A gang of two with a template that names the claim "data" of class "zonal", which waits for a pod.
struct WaitingClaim {
  WaitingClaim() {
    claim.key = {"ml", "data"};
    claim.storageClass = "zonal";
    storageClass.name = "zonal";
    storageClass.waitsForConsumer = true;
    storageClass.provisioner = "example.com";
  }

  [[nodiscard]] std::shared_ptr<const model::Job> tied() const {
    model::Job bert = job("ml/bert").role("worker", members, gpus(1));
    bert.spec.roles.front().shape.volumeClaims = {"data"};
    return withVolumes(std::make_shared<const model::Job>(bert), all(), "node");
  }
  [[nodiscard]] std::shared_ptr<const model::Job> tiedEphemeral() const {
    model::Job bert = job("ml/bert").role("worker", members, gpus(1));
    bert.spec.roles.front().shape.ephemeralVolumes = {{"d", "zonal", kGi}};
    return withVolumes(std::make_shared<const model::Job>(bert), all(), "node");
  }
  [[nodiscard]] model::Volumes all() const {
    model::Volumes volumes;
    volumes.claims.push_back(std::make_shared<const model::VolumeClaim>(claim));
    for (const model::Volume& each : people)
      volumes.volumes.push_back(std::make_shared<const model::Volume>(each));
    volumes.classes.push_back(std::make_shared<const model::StorageClass>(storageClass));
    volumes.drivers.push_back(std::make_shared<const model::CsiDriver>(driver));
    volumes.uses = uses;
    return volumes;
  }
  [[nodiscard]] static bool open(const model::Job& tied, const model::Node& node) {
    return !nodeMisfit(node, tied.spec.roles[0].shape);
  }

  int members = 2;
  model::VolumeClaim claim;
  model::StorageClass storageClass;
  model::CsiDriver driver{"nfs.example.com", false};
  std::vector<model::Volume> people;
  std::map<model::ObjectKey, std::vector<model::ClaimUse>> uses;
};

constexpr std::string_view kRoleCannot = "the pods of role worker cannot run: ";

}  // namespace

TEST_CASE("a claim that waits for its pod goes where its storage class makes volumes") {
  WaitingClaim scene;
  scene.storageClass.topologies = {{{{"zone", model::SelectorOperator::kIn, {"z1"}}}, {}}};
  CHECK(WaitingClaim::open(*scene.tied(), node("n1").label("zone", "z1")));
  CHECK_FALSE(WaitingClaim::open(*scene.tied(), node("n0").label("zone", "z0")));
  CHECK(WaitingClaim::open(*scene.tiedEphemeral(), node("n1").label("zone", "z1")));
  CHECK_FALSE(WaitingClaim::open(*scene.tiedEphemeral(), node("n0").label("zone", "z0")));
}

TEST_CASE("a claim for which a volume is being made goes to the node that it is made for") {
  WaitingClaim scene;
  scene.claim.selectedNode = model::NodeName("n2");
  CHECK(WaitingClaim::open(*scene.tied(), node("n2")));
  CHECK_FALSE(WaitingClaim::open(*scene.tied(), node("n1")));
}

TEST_CASE("a claim for one pod is usable by no gang and by no job while another pod uses it") {
  WaitingClaim scene;
  scene.claim.modes.oncePod = true;
  CHECK(scene.tied()->volumeProblem == std::string(kRoleCannot) +
                                           "PersistentVolumeClaim data is ReadWriteOncePod: a single pod can "
                                           "use it, and 2 of this job name it");
  scene.members = 1;
  CHECK(scene.tied()->volumeProblem.empty());
  scene.uses[scene.claim.key] = {{{"ml", "notebook"}, model::Uid("other"), model::NodeName("n1")}};
  CHECK(scene.tied()->volumeProblem ==
        std::string(kRoleCannot) +
            "PersistentVolumeClaim data is ReadWriteOncePod, and pod ml/notebook uses it");
  scene.uses[scene.claim.key][0].owner = model::Uid("uid-ml-bert");
  CHECK(scene.tied()->volumeProblem.empty());
}

TEST_CASE("members that share a volume for one node go to one node") {
  WaitingClaim scene;
  scene.claim.modes.once = true;
  CHECK(scene.tied()->spec.locality.required == "node");
  SECTION("one member may use any node") {
    scene.members = 1;
    CHECK(scene.tied()->spec.locality.required.empty());
  }
  SECTION("so may they where the claim is for many nodes as well, or its driver attaches nothing") {
    scene.claim.modes.many = true;
    CHECK(scene.tied()->spec.locality.required.empty());
    scene.claim.modes.many = false;
    scene.storageClass.provisioner = "nfs.example.com";
    CHECK(scene.tied()->spec.locality.required.empty());
  }
}

TEST_CASE("a class of local disks has volumes only on their nodes") {
  WaitingClaim scene;
  scene.storageClass.provisioner = "kubernetes.io/no-provisioner";
  scene.claim.bytes = kGi;
  CHECK(
      scene.tied()->volumeProblem ==
      std::string(kRoleCannot) +
          "PersistentVolumeClaim data has no volume: none of class zonal with 1073741824 bytes is available");
  const auto disk = [](std::string_view host, std::int64_t bytes) {
    model::Volume volume;
    volume.name = "pv-" + std::string(host);
    volume.affinity = {{{{"host", model::SelectorOperator::kIn, {std::string(host)}}}, {}}};
    volume.storageClass = "zonal";
    volume.bytes = bytes;
    volume.available = true;
    volume.modes.once = true;
    return volume;
  };
  scene.people = {disk("h1", kGi), disk("h2", kGi / 2)};
  for (const auto& tied : {scene.tied(), scene.tiedEphemeral()}) {
    CHECK(tied->volumeProblem.empty());
    CHECK(WaitingClaim::open(*tied, node("n1").label("host", "h1")));
    CHECK_FALSE(WaitingClaim::open(*tied, node("n2").label("host", "h2")));
  }
  scene.storageClass.waitsForConsumer = false;
  CHECK(scene.tiedEphemeral()->volumeProblem.find("needs volumeBindingMode WaitForFirstConsumer") !=
        std::string::npos);
}

TEST_CASE("an ephemeral volume needs its storage class") {
  WaitingClaim scene;
  scene.storageClass.name = "another";
  CHECK(scene.tiedEphemeral()->volumeProblem ==
        std::string(kRoleCannot) + "its ephemeral volume d names storage class zonal, which does not exist");
}
