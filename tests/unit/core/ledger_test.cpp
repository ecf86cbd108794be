#include "core/ledger/ledger.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

std::int64_t freeGpus(const model::Snapshot& snapshot, std::string_view node) {
  const Ledger ledger(snapshot);
  return ledger.nodes()[ledger.find(model::NodeName(node)).value()].free.gpus();
}

// Formats "job ml/bert 8, pod s/x 4": the holders of the node's GPUs.
std::string holders(const Ledger& ledger, std::string_view node) {
  std::string text;
  ledger.forEachHolding(ledger.find(model::NodeName(node)).value(), [&](const Ledger::Holding& holding) {
    const std::string owner = holding.job != nullptr   ? fmt::format("job {}", holding.job->key)
                              : holding.pod != nullptr ? fmt::format("pod {}", holding.pod->key)
                                                       : "plan";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", owner, holding.amount.gpus());
  });
  return text;
}

SnapshotBuilder oneNode() { return cluster().add(node("n1").gpus(8)); }

}  // namespace

TEST_CASE("an empty node offers its allocatable") { CHECK(freeGpus(oneNode(), "n1") == 8); }

TEST_CASE("bound pods hold their requests until they are finished") {
  CHECK(freeGpus(oneNode().add(pod("s/x").on("n1").gpus(3)), "n1") == 5);
  CHECK(freeGpus(oneNode().add(pod("s/x").on("n1").gpus(3).terminating()), "n1") == 5);
  CHECK(freeGpus(oneNode().add(pod("s/x").on("n1").gpus(3).phase(model::PodPhase::kUnknown)), "n1") == 5);
  CHECK(freeGpus(oneNode().add(pod("s/x").on("n1").gpus(3).phase(model::PodPhase::kSucceeded)), "n1") == 8);
  CHECK(freeGpus(oneNode().add(pod("s/x").on("n1").gpus(3).phase(model::PodPhase::kFailed)), "n1") == 8);
}

TEST_CASE("every pod takes one of the node's pod slots") {
  const model::Snapshot snapshot =
      cluster().add(node("n1").pods(3)).add(pod("s/x").on("n1")).add(pod("s/y").on("n1"));
  CHECK(Ledger(snapshot).nodes()[0].free.pods == 1);
}

TEST_CASE("many pods with names of their own on one node are added up as few are") {
  SnapshotBuilder snapshot = cluster().add(node("n1").pods(1'000).gpus(8));
  for (int i = 0; i < 300; ++i) {
    model::Pod one = pod(fmt::format("s/x{}", i)).on("n1").gpus(i == 0 ? 3 : 0);
    for (int name = 0; name < 8; ++name)
      one.shape.requests.setExtended(fmt::format("example.com/{}-{}", i, name), name + 1);
    one.shape.requests.setExtended("example.com/shared", 2);
    snapshot.add(one);
  }
  const model::Snapshot built = snapshot;
  const Ledger ledger(built);
  const model::Resources& free = ledger.nodes()[0].free;
  CHECK(free.gpus() == 5);
  CHECK(free.pods == 700);
  CHECK(free.extended("example.com/shared") == -600);
  CHECK(free.extended("example.com/299-7") == -8);
  CHECK(free.extendedAll().size() == 300 * 8 + 2);
  CHECK(ledger.freeWithoutJobs(0) == free);
}

TEST_CASE("a pod of a deleted node counts nowhere") {
  CHECK(freeGpus(oneNode().add(pod("s/x").on("n9").gpus(3)), "n1") == 8);
}

TEST_CASE("members hold their own requests once they are pinned and ungated") {
  const model::Job bert = job("ml/bert")
                              .role("worker", 1, gpus(3))
                              .proposes("n1", "worker", "0", model::ProposalPhase::kReserved);
  const auto member = [&] { return pod("").memberOf(bert, "worker", 0).gpus(4).pinnedTo("n1"); };
  CHECK(freeGpus(oneNode().add(bert).add(member()), "n1") == 4);
  // Only the assigned node counts.
  CHECK(freeGpus(oneNode().add(bert).add(member().gated()), "n1") == 5);
  CHECK(freeGpus(oneNode().add(bert).add(member().terminating()), "n1") == 5);
  CHECK(freeGpus(oneNode().add(bert).add(pod("").memberOf(bert, "worker", 0)), "n1") == 5);
}

// Owner reference, labels, affinity and scheduler can be written by every client that may create pods.
TEST_CASE("unbound pods that no record releases hold nothing under any claim") {
  model::Job bert = job("ml/bert").role("worker", 2, gpus(1)).placed("n2", "worker", "0", 4);
  std::int64_t held = 0;
  model::Pod pretender;
  SECTION("of a job that does not exist") {
    pretender = pod("ml/x").memberOf(job("ml/gone").role("worker", 1, gpus(3)), "worker", 0).pinnedTo("n1");
  }
  SECTION("of a member that the record does not have") {
    pretender = pod("").memberOf(bert, "worker", 1, 4).gpus(3).pinnedTo("n1");
  }
  SECTION("of an attempt that has ended") {
    pretender = pod("").memberOf(bert, "worker", 0, 3).gpus(3).pinnedTo("n2");
  }
  SECTION("of a member with another node") {
    pretender = pod("").memberOf(bert, "worker", 0, 4).gpus(3).pinnedTo("n1");
  }
  SECTION("but bound ones hold their requests") {
    pretender = pod("").memberOf(bert, "worker", 1, 4).gpus(3).on("n1");
    held = 3;
  }
  const model::Snapshot snapshot =
      cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(bert).add(pretender);
  CHECK(freeGpus(snapshot, "n1") == 8 - held);
  CHECK(freeGpus(snapshot, "n2") == 7);
}

TEST_CASE("other pinned pods hold nothing before they are bound because they may never be") {
  CHECK(freeGpus(oneNode().add(pod("s/x").pinnedTo("n1").gpus(3)), "n1") == 8);
  CHECK(freeGpus(oneNode().add(pod("s/x").ownedBy("DaemonSet", "d").pinnedTo("n1").gpus(3)), "n1") == 8);
  CHECK(freeGpus(oneNode().add(pod("s/x").pinnedTo("n1").on("n1").gpus(3)), "n1") == 5);
  const model::Job bert = job("ml/bert").role("worker", 1, gpus(3));
  model::Pod copy = pod("").memberOf(bert, "worker", 0).pinnedTo("n1");
  SECTION("in another namespace") { copy.key.ns = "intruder"; }
  SECTION("under another name") { copy.key.name = "bert-worker-0-copy"; }
  CHECK(freeGpus(oneNode().add(bert).add(copy), "n1") == 8);
}

TEST_CASE("a bound pod counts where it is bound and not where it is pinned") {
  const model::Snapshot snapshot = cluster()
                                       .add(node("n1").gpus(8))
                                       .add(node("n2").gpus(8))
                                       .add(pod("s/x").pinnedTo("n2").on("n1").gpus(3));
  CHECK(freeGpus(snapshot, "n1") == 5);
  CHECK(freeGpus(snapshot, "n2") == 8);
}

TEST_CASE("assigned nodes hold the template's requests in every phase") {
  for (const auto phase : {model::ProposalPhase::kClaiming, model::ProposalPhase::kReserved,
                           model::ProposalPhase::kReleasing, model::ProposalPhase::kAborting}) {
    // 3 members of 2 GPUs: 8 - 6 = 2.
    CHECK(freeGpus(
              oneNode().add(job("ml/bert").role("worker", 3, gpus(2)).proposes("n1", "worker", "0-2", phase)),
              "n1") == 2);
  }
}

TEST_CASE("an assignment is filled by its member's pod and counts by the requests of the pod") {
  const model::Job bert = job("ml/bert").role("worker", 2, gpus(2)).placed("n1", "worker", "0-1");
  SECTION("both members bound: 8 - 2 - 2") {
    CHECK(freeGpus(oneNode()
                       .add(bert)
                       .add(pod("").memberOf(bert, "worker", 0).on("n1"))
                       .add(pod("").memberOf(bert, "worker", 1).on("n1")),
                   "n1") == 4);
  }
  SECTION("one member enlarged by admission to 3, the other without a pod: 8 - 3 - 2") {
    CHECK(freeGpus(oneNode().add(bert).add(pod("").memberOf(bert, "worker", 0).on("n1").gpus(3)), "n1") == 3);
  }
  SECTION("a gated member counts no more than its assignment: 8 - 2 - 2") {
    CHECK(freeGpus(oneNode().add(bert).add(pod("").memberOf(bert, "worker", 0).gated()), "n1") == 4);
  }
  SECTION("a released member fills its assignment before it is bound") {
    CHECK(freeGpus(oneNode().add(bert).add(pod("").memberOf(bert, "worker", 0).pinnedTo("n1")), "n1") == 4);
  }
  SECTION("a pod of another epoch fills nothing: 8 - 2 - 2 - 2") {
    CHECK(freeGpus(oneNode().add(bert).add(pod("").memberOf(bert, "worker", 0, 7).on("n1")), "n1") == 2);
  }
  SECTION("a foreign pod with the member's labels fills nothing") {
    CHECK(freeGpus(oneNode().add(bert).add(
                       pod("").memberOf(bert, "worker", 0).ownedBy("Job", "uid-other").on("n1")),
                   "n1") == 2);
  }
  SECTION("nor does a pod elsewhere with the copied uid of the job: 8 - 2 - 2 - 2") {
    model::Pod copy = pod("").memberOf(bert, "worker", 0).on("n1");
    copy.key.ns = "intruder";
    CHECK(freeGpus(oneNode().add(bert).add(copy), "n1") == 2);
  }
  SECTION("nor a pod that has all of a member but its name: 8 - 2 - 2 - 2") {
    for (const std::string_view name :
         {"bert-worker-0-copy", "bert-worker-00", "bert-worker-1", "bert-worker", "x"}) {
      model::Pod copy = pod("").memberOf(bert, "worker", 0).on("n1");
      copy.key.name = std::string(name);
      CHECK(freeGpus(oneNode().add(bert).add(copy), "n1") == 2);
    }
  }
  SECTION("a member that has succeeded frees its assignment: 8 - 2") {
    CHECK(freeGpus(oneNode().add(bert).add(
                       pod("").memberOf(bert, "worker", 0).on("n1").phase(model::PodPhase::kSucceeded)),
                   "n1") == 6);
  }
  SECTION("the assignment of a failed member is held until the job decides: 8 - 2 - 2") {
    CHECK(freeGpus(oneNode().add(bert).add(
                       pod("").memberOf(bert, "worker", 0).on("n1").phase(model::PodPhase::kFailed)),
                   "n1") == 4);
  }
}

TEST_CASE("a member on another node than its assigned one holds both") {
  const model::Job bert = job("ml/bert").role("worker", 1, gpus(2)).placed("n1", "worker", "0");
  const model::Snapshot snapshot = cluster()
                                       .add(node("n1").gpus(8))
                                       .add(node("n2").gpus(8))
                                       .add(bert)
                                       .add(pod("").memberOf(bert, "worker", 0).on("n2"));
  CHECK(freeGpus(snapshot, "n1") == 6);
  CHECK(freeGpus(snapshot, "n2") == 6);
}

TEST_CASE("placed and proposal add up") {
  // 2 GPUs run, 2 more are reserved by a grow: 8 - 2 - 2.
  CHECK(freeGpus(oneNode().add(job("ml/bert")
                                   .role("worker", 2, gpus(2))
                                   .placed("n1", "worker", "0", 1)
                                   .proposes("n1", "worker", "1", model::ProposalPhase::kReserved, 2)),
                 "n1") == 4);
}

TEST_CASE("jobs that are finished or being deleted hold what their pods hold") {
  const auto bert = [] { return job("ml/bert").role("worker", 2, gpus(2)).placed("n1", "worker", "0-1"); };
  for (const model::Job& ended :
       {bert().deleting().build(), bert().condition(model::conditions::kFailed).build()}) {
    CHECK(freeGpus(oneNode().add(ended), "n1") == 8);
    CHECK(freeGpus(oneNode().add(ended).add(pod("").memberOf(ended, "worker", 0).on("n1").terminating()),
                   "n1") == 6);
  }
}

TEST_CASE("an attempt under way holds its nodes while its job is being deleted") {
  // Its members may be released by a request that is still in flight.
  const auto ended = job("ml/bert")
                         .role("worker", 2, gpus(2))
                         .placed("n1", "worker", "0", 1)
                         .proposes("n1", "worker", "1", model::ProposalPhase::kAborting, 2)
                         .deleting()
                         .build();
  CHECK(freeGpus(oneNode().add(ended), "n1") == 6);
}

TEST_CASE("a restart holds the larger of the old pods and the new assignments") {
  const auto restarting = [](std::int64_t gpusEach) {
    return job("ml/bert")
        .role("worker", 2, gpus(gpusEach))
        .placed("n1", "worker", "0-1", 1)
        .proposes("n1", "worker", "0-1", model::ProposalPhase::kReserved, 2)
        .proposalKind(model::ProposalKind::kRestart)
        .build();
  };
  SECTION("old pods of 2 and 2, new assignments of 2 and 2: 8 - max(4, 4)") {
    const model::Job bert = restarting(2);
    CHECK(freeGpus(oneNode()
                       .add(bert)
                       .add(pod("").memberOf(bert, "worker", 0, 1).on("n1").terminating())
                       .add(pod("").memberOf(bert, "worker", 1, 1).on("n1").terminating()),
                   "n1") == 4);
  }
  SECTION("one old pod is left, new assignments of 3 and 3: 8 - max(3, 6)") {
    const model::Job bert = restarting(3);
    CHECK(freeGpus(oneNode().add(bert).add(pod("").memberOf(bert, "worker", 0, 1).on("n1")), "n1") == 2);
  }
  SECTION("one new pod exists, the other assignment is open: 8 - 2 - 2") {
    const model::Job bert = restarting(2);
    CHECK(freeGpus(oneNode().add(bert).add(pod("").memberOf(bert, "worker", 0, 2).on("n1")), "n1") == 4);
  }
}

TEST_CASE("a claimed node counts minus what its victims still hold") {
  const model::Pod small = pod("s/small").on("n1").gpus(2);
  const auto claiming = [&] {
    return job("ml/bert")
        .role("worker", 1, gpus(6))
        .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
        .victim(small);
  };
  // The victim's 2 are held anyway, 4 more by the claim: 8 - 6.
  CHECK(freeGpus(oneNode().add(small).add(claiming()), "n1") == 2);
  // The victim is gone: the claim holds all 6.
  CHECK(freeGpus(oneNode().add(claiming()), "n1") == 2);
}

TEST_CASE("over-committed nodes show negative free capacity") {
  CHECK(freeGpus(oneNode().add(pod("s/x").on("n1").gpus(12)), "n1") == -4);
}

TEST_CASE("assignments of a removed role or on a deleted node count nowhere") {
  CHECK(
      freeGpus(
          oneNode().add(
              job("ml/bert").role("worker", 1, gpus(2)).placed("n1", "ps", "0").placed("n9", "worker", "0")),
          "n1") == 8);
}

TEST_CASE("the ledger lists the holders of a node") {
  const model::Job bert = job("ml/bert").role("worker", 2, gpus(2)).placed("n1", "worker", "0-1");
  const model::Snapshot snapshot =
      oneNode().add(bert).add(pod("").memberOf(bert, "worker", 0).on("n1")).add(pod("s/x").on("n1").gpus(1));
  Ledger ledger(snapshot);
  CHECK(holders(ledger, "n1") == "job ml/bert 2, pod s/x 1, job ml/bert 2");
  SECTION("copies have the same holders") {
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is what is tested
    const Ledger copy = ledger;
    CHECK(holders(copy, "n1") == holders(ledger, "n1"));
  }
  SECTION("what a plan takes is listed and given back") {
    ledger.take(0, gpus(1), 2, &jobIn(snapshot, "ml/bert"));
    CHECK(ledger.nodes()[0].free.gpus() == 1);
    CHECK(holders(ledger, "n1") == "job ml/bert 2, pod s/x 1, job ml/bert 2, job ml/bert 2");
    ledger.follow(snapshot);
    CHECK(ledger.nodes()[0].free.gpus() == 3);
    CHECK(holders(ledger, "n1") == "job ml/bert 2, pod s/x 1, job ml/bert 2");
  }
}
