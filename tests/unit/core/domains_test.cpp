#include "core/ledger/domains.h"

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

// Formats "z/r1[n1 n2] z/r2[n3]": the domains of a level with their nodes.
std::string levelText(const model::Snapshot& snapshot, std::string_view level) {
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  const std::size_t at = level.empty() ? 0 : domains.findLevel(level).value();
  std::string text;
  for (const Domains::Range& range : domains.levels()[at].domains) {
    text += (text.empty() ? "" : " ") + domains.path(at, range.begin) + "[";
    for (std::uint32_t position = range.begin; position < range.end; ++position) {
      if (position != range.begin) text += ' ';
      text += snapshot.nodes[domains.nodeAt(position)]->name.str();
      CHECK(domains.positionOf(domains.nodeAt(position)) == position);
      CHECK(domains.domainOf(at, position) == range);
    }
    text += "]";
  }
  return text;
}

}  // namespace

TEST_CASE("a fully labelled cluster becomes a tree") {
  const model::Snapshot snapshot = cluster()
                                       .add(node("n1").zone("z").block("b1").rack("r1"))
                                       .add(node("n2").zone("z").block("b2").rack("r2"))
                                       .add(node("n3").zone("z").block("b1").rack("r1"));
  CHECK(levelText(snapshot, "") == "[n1 n3 n2]");
  CHECK(levelText(snapshot, "zone") == "z[n1 n3 n2]");
  CHECK(levelText(snapshot, "block") == "z/b1[n1 n3] z/b2[n2]");
  CHECK(levelText(snapshot, "rack") == "z/b1/r1[n1 n3] z/b2/r2[n2]");
  CHECK(levelText(snapshot, "node") == "z/b1/r1/n1[n1] z/b1/r1/n3[n3] z/b2/r2/n2[n2]");
}

TEST_CASE("racks of the same name in two zones are two racks") {
  const model::Snapshot snapshot = cluster()
                                       .add(node("n1").zone("a").block("b").rack("r1"))
                                       .add(node("n2").zone("b").block("b").rack("r1"));
  CHECK(levelText(snapshot, "rack") == "a/b/r1[n1] b/b/r1[n2]");
}

TEST_CASE("nodes without a rack label are separate and not one rack") {
  const model::Snapshot snapshot = cluster()
                                       .add(node("n1").zone("z").block("b"))
                                       .add(node("n2").zone("z").block("b"))
                                       .add(node("n3").zone("z").block("b").rack("r1"));
  CHECK(levelText(snapshot, "block") == "z/b[n3 n1 n2]");
  CHECK(levelText(snapshot, "rack") == "z/b/r1[n3] z/b/(n1)[n1] z/b/(n2)[n2]");
}

TEST_CASE("racks stay racks on a cluster that labels nothing wider") {
  const model::Snapshot snapshot =
      cluster().add(node("n1").rack("r1")).add(node("n2").rack("r1")).add(node("n3").rack("r2"));
  CHECK(levelText(snapshot, "rack") == "r1[n1 n2] r2[n3]");
  // One rack is certainly in one zone; two racks may not be.
  CHECK(levelText(snapshot, "zone") == "(r1)[n1 n2] (r2)[n3]");
}

TEST_CASE("one labelled node does not change the domains of the others") {
  const model::Snapshot snapshot = cluster()
                                       .add(node("n1").rack("r1"))
                                       .add(node("n2").rack("r1"))
                                       .add(node("n3").zone("cloud").rack("r1"));
  CHECK(levelText(snapshot, "rack") == "cloud/r1[n3] r1[n1 n2]");
}

TEST_CASE("an empty label value counts as missing") {
  const model::Snapshot snapshot = cluster().add(node("n1").rack("")).add(node("n2").rack(""));
  CHECK(levelText(snapshot, "rack") == "(n1)[n1] (n2)[n2]");
}

TEST_CASE("the node level goes by name with any hostname label") {
  const model::Snapshot snapshot = cluster()
                                       .add(node("n1").label("kubernetes.io/hostname", "same"))
                                       .add(node("n2").label("kubernetes.io/hostname", "same"));
  CHECK(levelText(snapshot, "node") == "n1[n1] n2[n2]");
}

TEST_CASE("levels are configurable; the node level is always there") {
  const model::Snapshot snapshot = cluster()
                                       .topology({{"row", "example.com/row"}})
                                       .add(node("n1").label("example.com/row", "7"))
                                       .add(node("n2").label("example.com/row", "7"));
  CHECK(levelText(snapshot, "row") == "7[n1 n2]");
  CHECK(levelText(snapshot, "node") == "7/n1[n1] 7/n2[n2]");
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  CHECK_FALSE(domains.findLevel("rack"));
  CHECK(domains.levels()[1].labelled == 2);
}

TEST_CASE("an empty cluster has one empty domain") {
  const model::Snapshot snapshot = cluster();
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  CHECK(domains.nodeCount() == 0);
  CHECK(domains.levels()[0].domains.size() == 1);
  CHECK(domains.levels()[1].domains.empty());
}
