#include "operator/volume_keeper.h"

#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "core/ledger/ledger.h"
#include "model/topology.h"
#include "operator/assumed_pods.h"
#include "operator/type_labels.h"
#include "support/builders.h"

namespace trainyard::operator_ {
namespace {

struct Fixture {
  base::SilentSink silent;
  base::Logger log{silent, base::LogLevel::kError, "test"};
  kube::ClusterCache cache{log};
  VolumeKeeper keeper{cache, log, [] {}};
  AssumedPods assumed{cache, keeper.caches().claims, "", [this] { ++claimsChanged; }};
  int claimsChanged = 0;
  int version = 1;

  std::string meta(std::string_view name, std::string_view more = "") {
    ++version;
    return fmt::format(
        R"("metadata":{{"namespace":"ml","name":"{0}","uid":"u-{0}","resourceVersion":"{1}"{2}}})", name,
        version, more);
  }
  void node(std::string_view name, int gpus = 8) {
    cache.nodes.upsert(fmt::format(
        R"({{{},"status":{{"allocatable":{{"cpu":"64","memory":"1Ti","pods":"110","nvidia.com/gpu":"{}"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
        meta(name, fmt::format(R"(,"labels":{{"kubernetes.io/hostname":"{}"}})", name)), gpus));
  }
  void job(std::string_view name, std::string_view volumes, int gpus = 1, int replicas = 2) {
    cache.jobs.upsert(fmt::format(
        R"({{{},"spec":{{"framework":"Custom","roles":[{{"name":"worker","replicas":{},"template":{{"spec":{{"volumes":[{}],"containers":[{{"name":"c","image":"x","resources":{{"limits":{{"nvidia.com/gpu":"{}"}}}}}}]}}}}}}]}}}})",
        meta(name), replicas, volumes, gpus));
  }
  void pod(std::string_view name, std::string_view spec, std::string_view status = "{}") {
    cache.pods.upsert(fmt::format(
        R"({{{},"spec":{{{}"containers":[{{"name":"c","resources":{{"limits":{{"nvidia.com/gpu":"8"}}}}}}]}},"status":{}}})",
        meta(name), spec, status));
  }
  void claim(std::string_view name, std::string_view more, std::string_view annotations = "{}") {
    keeper.caches().claims.upsert(
        fmt::format(R"({{{},{}}})", meta(name, fmt::format(R"(,"annotations":{})", annotations)), more));
  }
  void localVolume(std::string_view name, std::string_view host) {
    keeper.caches().volumes.upsert(fmt::format(
        R"({{{},"spec":{{"capacity":{{"storage":"1Ti"}},"accessModes":["ReadWriteOnce"],"storageClassName":"local","nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"kubernetes.io/hostname","operator":"In","values":["{}"]}}]}}]}}}}}},"status":{{"phase":"Available"}}}})",
        meta(name), host));
  }
  void storageClass(std::string_view name, std::string_view more) {
    keeper.caches().classes.upsert(
        fmt::format(R"({{{},"volumeBindingMode":"WaitForFirstConsumer",{}}})", meta(name), more));
  }

  model::Snapshot snapshot() {
    model::Snapshot now = cache.snapshot({});
    now.policy.topology = model::defaultTopologyLevels();
    keeper.overlay(now);
    assumed.overlay(now);
    return now;
  }
};

constexpr std::string_view kLocalEphemeral =
    R"({"name":"d","ephemeral":{"volumeClaimTemplate":{"spec":{"storageClassName":"local","resources":{"requests":{"storage":"1Gi"}}}}}})";
constexpr std::string_view kData = R"({"name":"d","persistentVolumeClaim":{"claimName":"data"}})";

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "a pod that uses a claim for one node restricts others to that node until it ends") {
  node("n1");
  node("n2");
  job("train", kData);
  keeper.caches().volumes.upsert(fmt::format(
      R"({{{},"spec":{{"accessModes":["ReadWriteOnce"],"csi":{{"driver":"ebs"}}}}}})", meta("pv")));
  claim("data", R"("spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv"},"status":{"phase":"Bound"})");
  CHECK(snapshot().jobs[0]->spec.locality.required == "node");
  CHECK(snapshot().jobs[0]->spec.roles[0].shape.volumeAffinity.empty());

  pod("notebook", fmt::format(R"("nodeName":"n2","volumes":[{}],)", kData));
  const auto tied = snapshot().jobs[0];
  REQUIRE(tied->spec.roles[0].shape.volumeAffinity.size() == 1);
  CHECK(tied->spec.roles[0].shape.volumeAffinity[0][0].fields[0].values == std::vector<std::string>{"n2"});
  CHECK(snapshot().jobs[0] == tied);

  pod("notebook", fmt::format(R"("nodeName":"n2","volumes":[{}],)", kData), R"({"phase":"Succeeded"})");
  CHECK(snapshot().jobs[0]->spec.roles[0].shape.volumeAffinity.empty());
}

TEST_CASE_METHOD(Fixture, "a node takes as many pods with a local volume of their own as it has volumes") {
  node("n1");
  node("n2");
  node("n3");
  storageClass("local", R"("provisioner":"kubernetes.io/no-provisioner")");
  job("train", kLocalEphemeral);
  CHECK(snapshot().jobs[0]->volumeProblem ==
        "the pods of role worker cannot run: its ephemeral volume d has no volume: none of class local with "
        "1073741824 bytes is available");
  localVolume("a", "n1");
  localVolume("b", "n2");
  localVolume("c", "n2");
  localVolume("e", "n2");
  const model::Snapshot now = snapshot();
  const model::Role& role = now.jobs[0]->spec.roles[0];
  CHECK(now.jobs[0]->volumeProblem.empty());
  const core::Ledger ledger(now);
  const auto fits = [&](std::size_t i) {
    return ledger.nodes()[i].free.timesCovered(role.shape.requests, 8);
  };
  CHECK(fits(0) == 1);
  CHECK(fits(1) == 3);
  REQUIRE(role.shape.volumeAffinity.size() == 1);
  CHECK(role.shape.volumeAffinity[0][0].labels[0].values == std::vector<std::string>{"n1", "n2"});
  CHECK(snapshot().nodes[1] == now.nodes[1]);
  CHECK(now.nodes[0] == cache.nodes.all()[0]);
}

TEST_CASE_METHOD(Fixture, "nodes with as many volumes of a CSI driver as they take are closed") {
  node("n1");
  node("n2");
  job("train", kData);
  keeper.caches().volumes.upsert(fmt::format(
      R"({{{},"spec":{{"accessModes":["ReadWriteMany"],"csi":{{"driver":"nfs"}}}}}})", meta("pv")));
  keeper.caches().volumes.upsert(fmt::format(
      R"({{{},"spec":{{"accessModes":["ReadWriteMany"],"csi":{{"driver":"nfs"}}}}}})", meta("pv2")));
  claim("data", R"("spec":{"volumeName":"pv"},"status":{"phase":"Bound"})");
  claim("other", R"("spec":{"volumeName":"pv2"},"status":{"phase":"Bound"})");
  for (const char* name : {"n1", "n2"}) {
    keeper.caches().csiNodes.upsert(fmt::format(
        R"({{{},"spec":{{"drivers":[{{"name":"nfs","allocatable":{{"count":1}}}}]}}}})", meta(name)));
  }
  CHECK(snapshot().jobs[0]->spec.roles[0].shape.volumeAffinity.empty());
  pod("user", R"("nodeName":"n2","volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"other"}}],)");
  const auto& affinity = snapshot().jobs[0]->spec.roles[0].shape.volumeAffinity;
  REQUIRE(affinity.size() == 1);
  CHECK(affinity[0][0].fields[0].op == model::SelectorOperator::kNotIn);
  CHECK(affinity[0][0].fields[0].values == std::vector<std::string>{"n2"});
}

TEST_CASE_METHOD(Fixture,
                 "a pod that kube-scheduler has a node for holds capacity there before it is bound") {
  node("n1");
  const auto freeGpus = [&] { return core::Ledger(snapshot()).nodes()[0].freeGpus; };
  const std::string volumes = fmt::format(R"("volumes":[{}],)", kData);
  SECTION("by its claim whose volume is being made for that node") {
    claim("data", R"("spec":{})");
    pod("slow", volumes);
    CHECK(freeGpus() == 8);
    const int before = claimsChanged;
    claim("data", R"("spec":{})", R"({"volume.kubernetes.io/selected-node":"n1"})");
    CHECK(claimsChanged > before);
    CHECK(freeGpus() == 0);
    const model::Snapshot first = snapshot();
    CHECK(snapshot().pods[0] == first.pods[0]);
    pod("slow", volumes,
        R"({"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no"}]})");
    CHECK(freeGpus() == 8);
  }
  SECTION("nominated") {
    pod("slow", "", R"({"nominatedNodeName":"n1"})");
    CHECK(freeGpus() == 0);
  }
  SECTION("but not by its claim where kube-scheduler may be ignoring the pod") {
    claim("data", R"("spec":{})", R"({"volume.kubernetes.io/selected-node":"n1"})");
    const std::string devices =
        R"("resourceClaims":[{"name":"c","resourceClaimName":"not-there"}],)" + volumes;
    pod("slow", devices);
    CHECK(freeGpus() == 8);
    pod("slow", devices, R"({"nominatedNodeName":"n1"})");
    CHECK(freeGpus() == 0);
  }
  SECTION("but not where another scheduler may never bind it") {
    claim("data", R"("spec":{})", R"({"volume.kubernetes.io/selected-node":"n1"})");
    pod("slow", R"("schedulerName":"none",)" + volumes);
    CHECK(freeGpus() == 8);
  }
}

TEST_CASE_METHOD(Fixture, "a node that loses the label of its GPU type for a moment keeps the type") {
  base::WallTime now = test::at(0);
  TypeLabels types(cache, [] { return "gpu/type"; }, [&] { return now; });
  const auto labelled = [&](std::string_view labels, std::string_view uid = "u1") {
    ++version;
    cache.nodes.upsert(
        fmt::format(R"({{"metadata":{{"name":"n1","uid":"{}","resourceVersion":"{}","labels":{}}}}})", uid,
                    version, labels));
  };
  const auto type = [&] {
    model::Snapshot seen = cache.snapshot(now);
    seen.policy.gpuTypeLabel = "gpu/type";
    types.overlay(seen);
    const std::string* value = seen.nodes[0]->labels.find("gpu/type");
    return value == nullptr ? std::string() : *value;
  };
  labelled(R"({"gpu/type":"H100","rack":"r1"})");
  CHECK(type() == "H100");
  labelled(R"({"rack":"r1"})");
  CHECK(type() == "H100");
  labelled(R"({"rack":"r2"})");
  CHECK(type() == "H100");
  SECTION("until it is labelled again") {
    labelled(R"({"gpu/type":"A100"})");
    CHECK(type() == "A100");
  }
  SECTION("or is another node of that name") {
    labelled(R"({})", "u2");
    CHECK(type().empty());
  }
  SECTION("for an hour") {
    now = test::at(3'600);
    CHECK(type().empty());
  }
}

}  // namespace trainyard::operator_
