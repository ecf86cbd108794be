#include "core/ledger/node_misfit.h"

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test
using model::SelectorOperator;
using model::TaintEffect;
using Reason = NodeMisfitReason;

namespace {

std::string answer(const model::Node& where, const model::PodShape& shape) {
  const auto failure = nodeMisfit(where, shape);
  CHECK(nodeRefusal(where, shape) == (failure ? std::optional(failure->reason) : std::nullopt));
  return failure ? failure->text : "fits";
}

model::PodShape tolerating(const model::Toleration& toleration) {
  model::PodShape shape;
  shape.tolerations = {toleration};
  return shape;
}

model::PodShape requiring(std::vector<model::NodeSelectorTerm> terms) {
  model::PodShape shape;
  shape.affinity = std::move(terms);
  return shape;
}

bool labelHolds(const model::Node& where, SelectorOperator op, std::vector<std::string> values,
                std::string label = "level") {
  return !nodeMisfit(where, requiring({{{{std::move(label), op, std::move(values)}}, {}}}));
}

bool nameHolds(SelectorOperator op, std::vector<std::string> values) {
  return !nodeMisfit(node("n1"), requiring({{{}, {{"metadata.name", op, std::move(values)}}}}));
}

}  // namespace

TEST_CASE("an open node accepts a pod without constraints") { CHECK(answer(node("n1"), {}) == "fits"); }

TEST_CASE("the state of the node comes first") {
  CHECK(answer(node("n1").deleting().notReady().cordoned(), {}) == "is being deleted");
  CHECK(answer(node("n1").notReady().cordoned(), {}) == "is not ready");
  CHECK(answer(node("n1").cordoned().taint("x"), {}) == "is cordoned");
}

TEST_CASE("a node that is not ready accepts no pod with any toleration") {
  CHECK(answer(node("n1").notReady(), tolerating({"", "", true})) == "is not ready");
}

TEST_CASE("a cordon is tolerated as in kube-scheduler") {
  CHECK(answer(node("n1").cordoned(), tolerating({"node.kubernetes.io/unschedulable", "", true})) == "fits");
  CHECK(answer(node("n1").cordoned(), tolerating({"", "", true})) == "fits");
  CHECK(answer(node("n1").cordoned(), tolerating({"node.kubernetes.io/unschedulable", "", true,
                                                  TaintEffect::kNoExecute})) == "is cordoned");
  // The taint alone, before spec.unschedulable is visible.
  CHECK(answer(node("n1").taint("node.kubernetes.io/unschedulable"), {}) == "is cordoned");
}

TEST_CASE("taints exclude pods that do not tolerate them") {
  const model::Node tainted = node("n1").taint("gpu", "a100");
  CHECK(answer(tainted, {}) == "has the taint gpu=a100:NoSchedule");
  CHECK(answer(tainted, tolerating({"gpu", "a100"})) == "fits");
  CHECK(answer(tainted, tolerating({"gpu", "h100"})) == "has the taint gpu=a100:NoSchedule");
  CHECK(answer(tainted, tolerating({"gpu", "", true})) == "fits");
  CHECK(answer(tainted, tolerating({"", "", true})) == "fits");
  CHECK(answer(tainted, tolerating({"cpu", "", true})) == "has the taint gpu=a100:NoSchedule");
  CHECK(answer(tainted, tolerating({"gpu", "a100", false, TaintEffect::kNoSchedule})) == "fits");
  CHECK(answer(tainted, tolerating({"gpu", "a100", false, TaintEffect::kNoExecute})) ==
        "has the taint gpu=a100:NoSchedule");
}

TEST_CASE("NoExecute excludes pods as well and PreferNoSchedule does not") {
  CHECK(answer(node("n1").taint("x", "", TaintEffect::kNoExecute), {}) == "has the taint x:NoExecute");
  CHECK(answer(node("n1").taint("x", "", TaintEffect::kPreferNoSchedule), {}) == "fits");
}

TEST_CASE("every taint needs a toleration; the first without one is named") {
  CHECK(answer(node("n1").taint("a").taint("b"), tolerating({"a", "", true})) ==
        "has the taint b:NoSchedule");
}

TEST_CASE("taints of Kubernetes are distinguished from those of administrators") {
  const auto pressure = nodeMisfit(node("n1").taint("node.kubernetes.io/disk-pressure"), {});
  CHECK(pressure->reason == Reason::kNodeTrouble);
  CHECK(templateMatches(node("n1").taint("node.kubernetes.io/disk-pressure").cordoned().notReady(), {}));
  const auto lasting = nodeMisfit(node("n1").taint("dedicated", "infra"), {});
  CHECK(lasting->reason == Reason::kTaint);
  CHECK_FALSE(templateMatches(node("n1").taint("dedicated", "infra"), {}));
}

TEST_CASE("nodeSelector needs every label with its value") {
  model::PodShape shape;
  shape.nodeSelector =
      model::Labels(std::vector<std::pair<std::string, std::string>>{{"pool", "train"}, {"tier", "1"}});
  CHECK(answer(node("n1").label("pool", "train").label("tier", "1"), shape) == "fits");
  CHECK(answer(node("n1").label("pool", "train"), shape) == "has no label tier=1");
  CHECK(answer(node("n1").label("pool", "serve").label("tier", "1"), shape) == "has no label pool=train");
}

TEST_CASE("affinity: operators on labels") {
  const model::Node five = node("n1").label("level", "5");
  CHECK(labelHolds(five, SelectorOperator::kIn, {"4", "5"}));
  CHECK_FALSE(labelHolds(five, SelectorOperator::kIn, {"4"}));
  CHECK_FALSE(labelHolds(node("n1"), SelectorOperator::kIn, {"4"}));
  CHECK(labelHolds(five, SelectorOperator::kNotIn, {"4"}));
  CHECK_FALSE(labelHolds(five, SelectorOperator::kNotIn, {"5"}));
  CHECK(labelHolds(node("n1"), SelectorOperator::kNotIn, {"5"}));  // an absent label is not in any set
  CHECK(labelHolds(five, SelectorOperator::kExists, {}));
  CHECK_FALSE(labelHolds(node("n1"), SelectorOperator::kExists, {}));
  CHECK(labelHolds(node("n1"), SelectorOperator::kDoesNotExist, {}));
  CHECK_FALSE(labelHolds(five, SelectorOperator::kDoesNotExist, {}));
}

TEST_CASE("affinity: Gt and Lt compare integers") {
  const model::Node five = node("n1").label("level", "5");
  CHECK(labelHolds(five, SelectorOperator::kGt, {"4"}));
  CHECK_FALSE(labelHolds(five, SelectorOperator::kGt, {"5"}));
  CHECK(labelHolds(five, SelectorOperator::kLt, {"10"}));  // as numbers, not as text
  CHECK_FALSE(labelHolds(five, SelectorOperator::kLt, {"5"}));
  CHECK(labelHolds(node("n1").label("level", "-3"), SelectorOperator::kLt, {"0"}));
  CHECK_FALSE(labelHolds(node("n1"), SelectorOperator::kGt, {"4"}));
  CHECK_FALSE(labelHolds(node("n1").label("level", "5x"), SelectorOperator::kGt, {"4"}));
  CHECK_FALSE(labelHolds(node("n1").label("level", "99999999999999999999"), SelectorOperator::kGt, {"4"}));
  CHECK_FALSE(labelHolds(five, SelectorOperator::kGt, {"four"}));
  CHECK_FALSE(labelHolds(five, SelectorOperator::kGt, {"3", "4"}));
  CHECK_FALSE(labelHolds(five, SelectorOperator::kGt, {}));
}

TEST_CASE("affinity: the node's name as a field") {
  CHECK(nameHolds(SelectorOperator::kIn, {"n1"}));
  CHECK_FALSE(nameHolds(SelectorOperator::kIn, {"n2"}));
  CHECK(nameHolds(SelectorOperator::kNotIn, {"n2"}));
  CHECK_FALSE(nameHolds(SelectorOperator::kNotIn, {"n1"}));
  CHECK_FALSE(nodeMisfit(node("n1"), requiring({{{}, {{"metadata.name", SelectorOperator::kIn, {"n1"}}}}})));
  CHECK(nodeMisfit(node("n1"), requiring({{{}, {{"spec.unschedulable", SelectorOperator::kIn, {"n1"}}}}})));
}

TEST_CASE("affinity: a pod needs all of one term") {
  const model::Node where = node("n1").label("pool", "train");
  const model::NodeSelectorTerm holds{{{"pool", SelectorOperator::kIn, {"train"}}}, {}};
  const model::NodeSelectorTerm fails{{{"pool", SelectorOperator::kIn, {"serve"}}}, {}};
  const model::NodeSelectorTerm half{{{"pool", SelectorOperator::kIn, {"train"}}},
                                     {{"metadata.name", SelectorOperator::kIn, {"n2"}}}};
  const model::NodeSelectorTerm nothing{};
  CHECK(answer(where, requiring({holds})) == "fits");
  CHECK(answer(where, requiring({fails, holds})) == "fits");
  CHECK(answer(where, requiring({fails})) == "does not match the required node affinity");
  CHECK(answer(where, requiring({half})) == "does not match the required node affinity");
  CHECK(answer(where, requiring({nothing})) == "does not match the required node affinity");
  CHECK(answer(where, requiring({nothing, holds})) == "fits");
  CHECK(answer(where, requiring({})) == "does not match the required node affinity");
}

TEST_CASE("nodeSelector and affinity must both hold") {
  model::PodShape shape = requiring({{{{"pool", SelectorOperator::kExists, {}}}, {}}});
  shape.nodeSelector = model::Labels(std::vector<std::pair<std::string, std::string>>{{"tier", "1"}});
  CHECK(answer(node("n1").label("pool", "x"), shape) == "has no label tier=1");
  CHECK(answer(node("n1").label("tier", "1"), shape) == "does not match the required node affinity");
  CHECK(answer(node("n1").label("tier", "1").label("pool", "x"), shape) == "fits");
}
