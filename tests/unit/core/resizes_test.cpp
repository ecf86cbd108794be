#include "core/elastic/resizes.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/elastic/long_constraints.h"
#include "core/place/node_refusals.h"
#include "model/conditions.h"
#include "model/limits.h"
#include "support/placing.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr int kNodes = 100;
constexpr int kDear = 60;

// One member of one GPU, which may grow to two.
model::Job elastic(const std::string& name, const std::string& where) {
  model::Job made = job(name)
                        .role("worker", 1, requests(1, 1))
                        .elastic(1, 1, 2)
                        .placed(where, "worker", "0")
                        .condition(model::conditions::kScheduled);
  made.spec.templateHash = name;
  return made;
}

// An expensive job: a thousand labels that no node has, different ones for each job.
model::Job dear(int number) {
  model::Job made =
      elastic(fmt::format("mallory/job-{:02}", number), fmt::format("gpu-{:02}", number % kNodes));
  model::NodeSelectorTerm term;
  for (int i = 0; i < 1'000; ++i)
    term.labels.push_back({fmt::format("k{}-{}", number, i), model::SelectorOperator::kDoesNotExist, {}});
  made.spec.roles.front().shape.affinity = {term};
  return made;
}

struct Scene {
  model::Snapshot snapshot = build();
  std::vector<std::shared_ptr<const model::Job>> gangs{snapshot.jobs.begin(), snapshot.jobs.end()};
  NodeRefusals refusals;

  static model::Snapshot build() {
    SnapshotBuilder builder = cluster();
    for (int i = 0; i < kNodes; ++i) builder.add(node(fmt::format("gpu-{:02}", i)).gpus(8));
    for (int i = 0; i < kDear; ++i) builder.add(dear(i));
    builder.add(elastic("ml/bert", "gpu-99"));
    return builder.now(10'000).build();
  }

  ResizeAnswer cycle() {
    Ledger ledger(snapshot);
    const Domains domains(snapshot.nodes, snapshot.policy.topology);
    QueueTree tree(snapshot);
    FitCache fits;
    return resizeGangs({.snapshot = snapshot,
                        .ledger = ledger,
                        .domains = domains,
                        .queues = tree,
                        .gangs = gangs,
                        .wanted = [](const auto&, const auto&) { return false; },
                        .takesPart = [](const auto&) { return false; },
                        .fits = fits,
                        .refusals = refusals});
  }
};

std::size_t grown(const ResizeAnswer& answer, const std::string& ns) {
  return static_cast<std::size_t>(std::count_if(
      answer.changes.begin(), answer.changes.end(),
      [&](const Change& each) { return each.kind == ChangeKind::kGrow && each.job->key.ns == ns; }));
}

}  // namespace

TEST_CASE("resizes: long constraints of others prevent no growth and a part of them is compared") {
  Scene scene;
  scene.snapshot.policy.resize.touchedPermille = 1'000;
  const ResizeAnswer first = scene.cycle();
  CHECK(grown(first, "ml") == 1);
  // As many as the budget of compared values allows.
  const std::size_t compared = grown(first, "mallory");
  CHECK(compared == kMaxCompared / (kNodes * (1'000 - 8)));
  CHECK_FALSE(first.wakeAt.has_value());

  // The cache changes no decision.
  CHECK(grown(scene.cycle(), "mallory") == compared);
}

TEST_CASE("long constraints: a namespace with many takes none from one with a few") {
  std::vector<ComparedTemplate> all;
  for (int i = 0; i < 300; ++i) all.push_back({"mallory", fmt::format("{}", i), 900});
  all.push_back({"ml", "bert", 400});
  all.push_back({"zz", "gpt", 30});
  all.push_back({"zz", "vit", 30});
  const std::set<std::string> out = leftOut(all, 1'000);
  CHECK(out.size() == 300);
  CHECK_FALSE(out.contains("bert"));
  CHECK_FALSE(out.contains("gpt"));
  CHECK_FALSE(out.contains("vit"));
  CHECK(leftOut(all, 10).size() == 300 - (kMaxCompared - 10 * 460) / 9'000);
  CHECK(leftOut({{"ml", "short", 0}}, 1'000'000).empty());
}

TEST_CASE("long constraints: a copy of another job's template takes nothing from it") {
  std::vector<ComparedTemplate> all = {{"ml", "bert", 400}};
  for (int i = 0; i < 300; ++i) all.push_back({"mallory", fmt::format("{}", i), 300});
  all.push_back({"mallory", "bert", 400});
  CHECK_FALSE(leftOut(all, 1'000).contains("bert"));
  // Equal selectors are compared once and cost once.
  CHECK(leftOut({{"a", "x", 1'000}, {"b", "x", 1'000}, {"c", "y", 300}}, 1'000).empty());
}

TEST_CASE("long constraints: one job of as many terms as allowed is compared with 5000 nodes") {
  CHECK(leftOut({{"ml", "bert", model::limits::kMaxNodeTerms}}, 5'000).empty());
}
