#include "core/place/cluster_fragmentation.h"

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

ClusterFragmentation of(const model::Snapshot& snapshot) {
  return clusterFragmentation(Ledger(snapshot), observedMix(snapshot.jobs));
}

}  // namespace

TEST_CASE("free GPUs in pieces that are too small for the jobs are fragmented") {
  auto builder = cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(node("n3").gpus(8));
  CHECK(of(builder.build()) == ClusterFragmentation{24, 0});
  builder.add(pod("a/x").on("n1").gpus(5)).add(pod("a/y").on("n2").gpus(5));
  // Without pending jobs, fragmentation is undefined.
  CHECK(of(builder.build()) == ClusterFragmentation{14, 0});
  // One member of eight cannot use the three of n1 and the three of n2, but can use n3.
  builder.add(job("ml/eight").role("worker", 1, gpus(8)));
  CHECK(of(builder.build()) == ClusterFragmentation{14, 6 * 1000 / 14});
  // Three members of one can use every GPU: three of four draws are satisfied.
  builder.add(job("ml/one").role("worker", 3, gpus(1)));
  CHECK(of(builder.build()) == ClusterFragmentation{14, 6 * 1000 / (4 * 14)});
}

TEST_CASE("nodes that accept no pods have nothing free and over-committed ones not less than nothing") {
  auto builder = cluster()
                     .add(node("away").gpus(8).notReady())
                     .add(node("closed").gpus(8).cordoned())
                     .add(node("full").gpus(2))
                     .add(pod("a/x").on("full").gpus(4))
                     .add(job("ml/one").role("worker", 1, gpus(1)));
  CHECK(of(builder.build()) == ClusterFragmentation{0, 0});
  CHECK(of(builder.add(node("open").gpus(1)).build()) == ClusterFragmentation{1, 0});
}

TEST_CASE("GPUs that cpu cannot feed count as fragmented") {
  const auto snapshot =
      cluster().add(node("n1").gpus(4).cpu(2)).add(job("ml/a").role("worker", 1, requests(1, 4)));
  CHECK(of(snapshot) == ClusterFragmentation{4, 1000});
}
