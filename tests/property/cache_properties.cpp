#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "core/ledger/ledger.h"
#include "property/living_cluster.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr int kSteps = 20;

// The whole state of a ledger as text, in its order.
std::string wordsOf(const Ledger& ledger) {
  std::string text;
  for (std::size_t i = 0; i < ledger.nodes().size(); ++i) {
    const Ledger::NodeCapacity& capacity = ledger.nodes()[i];
    text += fmt::format("{} free {} gpus {} pods:", capacity.node->name, capacity.free.gpus(),
                        capacity.free.pods);
    ledger.forEachHolding(i, [&](const Ledger::Holding& holding) {
      text += fmt::format(" {}/{}={}", holding.job ? holding.job->key.name : "-",
                          holding.pod ? holding.pod->key.name : "places", holding.amount.gpus());
    });
    text += '\n';
  }
  return text;
}

// The decisions of a plan as text.
std::string wordsOf(const Plan& plan) {
  std::string text;
  for (const JobDecision& each : plan.decisions) {
    text += fmt::format("{}:", each.job->key);
    if (each.status && each.status->pending) text += fmt::format(" {}", each.status->pending->message);
    if (each.status && each.status->gang.proposal) text += " has a proposal";
    text += '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("a ledger that follows the changes equals the ledger of the snapshot") {
  rc::prop("after every step, with anything taken in between", [](std::uint64_t seed) {
    LivingCluster cluster(seed);
    Ledger followed;
    for (int step = 0; step < kSteps; ++step) {
      const CycleInput input = cluster.look();
      followed.follow(input.snapshot);
      RC_ASSERT(wordsOf(followed) == wordsOf(Ledger(input.snapshot)));
      if (step % 3 == 0 && !input.snapshot.nodes.empty()) followed.take(0, gpus(1), 2);
      cluster.carryOut(cycle(input));
      cluster.live();
    }
  });
}

TEST_CASE("the cycle cache changes no plan") {
  rc::prop("a warm cache and an empty one give the same plan, step by step", [](std::uint64_t seed) {
    LivingCluster cluster(seed);
    CycleCache cache;
    for (int step = 0; step < kSteps; ++step) {
      const CycleInput input = cluster.look();
      // The age of the reservations is deliberately cached (core/cycle/cycle_cache.h).
      CycleCache empty;
      empty.reservedSince() = cache.reservedSince();
      const Plan warm = cycle(input, cache);
      const Plan cold = cycle(input, empty);
      RC_LOG() << wordsOf(warm) << "\ncold:\n" << wordsOf(cold);
      RC_ASSERT(warm == cold);
      cluster.carryOut(warm);
      cluster.live();
    }
  });
}
