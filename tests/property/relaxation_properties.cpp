#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include <set>

#include "core/place/relaxation.h"
#include "property/brute_force.h"
#include "property/place_scene.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

model::Locality anyLocality() {
  model::Locality locality;
  const auto levelName = rc::gen::elementOf(std::vector<std::string>{"node", "rack", "block", "zone"});
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) {
    model::LocalityLevel level{*levelName, std::nullopt};
    if (*rc::gen::arbitrary<bool>()) level.wait = seconds(*rc::gen::inRange(0, 1000));
    locality.levels.push_back(level);
  }
  if (*rc::gen::arbitrary<bool>()) locality.required = *levelName;
  return locality;
}

model::RelaxationPolicy anyPolicy() {
  return {milliseconds(*rc::gen::inRange(0, 100'000)), milliseconds(*rc::gen::inRange(0, 10'000)),
          *rc::gen::inRange(0, 1000), milliseconds(*rc::gen::inRange(0, 4'000'000))};
}

}  // namespace

TEST_CASE("relaxing is monotone in time and ends at the required level") {
  rc::prop("monotone", [] {
    // Without nodes, the domains of all levels are equal.
    const Domains domains = *rc::gen::arbitrary<bool>()
                                ? binaryDomains()
                                : Domains(std::vector<const model::Node*>{}, model::defaultTopologyLevels());
    const model::Locality locality = anyLocality();
    RelaxationInput input{&locality, *rc::gen::inRange(0, 2000), std::nullopt, 0};
    input.attainable = *rc::gen::inRange<std::size_t>(0, domains.nodeLevel() + 1);
    if (*rc::gen::arbitrary<bool>()) input.estimatedDuration = seconds(*rc::gen::inRange(0, 1'000'000));
    const std::size_t bound = locality.required.empty() ? 0 : domains.findLevel(locality.required).value();
    const auto steps = relaxationSteps(input, anyPolicy(), domains);
    RC_ASSERT(!steps.empty());
    RC_ASSERT(steps.front().after == milliseconds(0));
    for (std::size_t i = 1; i < steps.size(); ++i) {
      RC_ASSERT(steps[i].after > steps[i - 1].after);
      RC_ASSERT(steps[i].widest < steps[i - 1].widest);
    }
    RC_ASSERT(domains.levels()[steps.back().widest].domains == domains.levels()[bound].domains);

    const milliseconds early(*rc::gen::inRange(0, 10'000'000));
    const milliseconds late = early + milliseconds(*rc::gen::inRange(0, 10'000'000));
    const Relaxation now = relaxationAt(steps, early);
    RC_ASSERT(relaxationAt(steps, late).widest <= now.widest);
    RC_ASSERT(now.next.has_value() == (now.widest != steps.back().widest));
    if (!now.next) return;
    // Nothing changes before the announced moment, and then the announced change occurs.
    RC_ASSERT(now.next->after > early);
    RC_ASSERT(relaxationAt(steps, now.next->after - milliseconds(1)).widest == now.widest);
    RC_ASSERT(relaxationAt(steps, now.next->after).widest == now.next->widest);
  });
}

TEST_CASE("relaxing never places wider than allowed") {
  rc::prop("no wider", [](const Scene& scene) {
    const model::Snapshot snapshot = snapshotOf(scene);
    const Ledger ledger(snapshot);
    const Domains domains(snapshot.nodes, snapshot.policy.topology);
    const model::Job& gang = jobIn(snapshot, "x/j");
    PlaceRequest request = wholeGang(gang);
    model::Locality locality = anyLocality();
    locality.required = scene.required;
    const RelaxationInput input{&locality, 16, std::nullopt, tightestAttainable(request, ledger, domains)};
    const milliseconds waited(*rc::gen::inRange(0, 4'000'000));
    const auto steps = relaxationSteps(input, anyPolicy(), domains);
    request.widest = relaxationAt(steps, waited).widest;

    const BruteForce brute(snapshot, gang, false);
    const std::string& allowed = domains.levels()[request.widest].name;
    const auto outcome = place(request, ledger, domains);
    const auto* placement = std::get_if<Placement>(&outcome);
    RC_TAG(fmt::format("{} within {}", placement ? "placed" : "waits", allowed.empty() ? "any" : allowed));
    RC_ASSERT((placement != nullptr) == brute.fitsAt(allowed));
    if (placement == nullptr) return;
    const std::size_t first = ledger.find(placement->assignments.front().node).value();
    for (const model::Assignment& each : placement->assignments) {
      const std::size_t node = ledger.find(each.node).value();
      RC_ASSERT(brute.together(first, node, allowed));
      if (!scene.required.empty()) RC_ASSERT(brute.together(first, node, scene.required));
    }
  });
}

TEST_CASE("a job without a locality preference starts at once where it fits as closely as it ever can") {
  rc::prop("no absurd wait", [](const Scene& scene) {
    const model::Snapshot snapshot = snapshotOf(scene);
    const Ledger ledger(snapshot);
    const Domains domains(snapshot.nodes, snapshot.policy.topology);
    const model::Job& gang = jobIn(snapshot, "x/j");
    PlaceRequest request = wholeGang(gang);
    // The scene's fillers belong to no job, so a closer placement never becomes possible.
    const RelaxationInput input{&gang.spec.locality, 1000, std::nullopt,
                                tightestAttainable(request, ledger, domains)};
    request.widest = relaxationAt(relaxationSteps(input, anyPolicy(), domains), milliseconds(0)).widest;
    const bool now = std::holds_alternative<Placement>(place(request, ledger, domains));
    request.widest = 0;
    RC_ASSERT(now == std::holds_alternative<Placement>(place(request, ledger, domains)));
  });
}
