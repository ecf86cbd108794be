#include <catch2/catch.hpp>

#include <algorithm>

#include "codec/json_value.h"
#include "model/conditions.h"
#include "operator/console/answers.h"
#include "operator/console/job_page.h"
#include "operator/console/view.h"
#include "support/builders.h"

namespace trainyard::operator_::console::test {
namespace {

using namespace trainyard::test;

const std::string kHostile = "<img src=x onerror=alert(1)>\n\nevent: me\u2028\xff";

Facts factsOf(const model::Snapshot& snapshot) {
  Facts facts;
  facts.follow(snapshot);
  return facts;
}

std::string partOf(const std::vector<Section>& sections, std::string_view name) {
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const Section& each) { return each.name == name; });
  return found == sections.end() ? "(none)" : found->json;
}

std::string allOf(const std::vector<Section>& sections) {
  std::string out;
  for (const Section& each : sections) out += sentEvent(each.name, each.json);
  return out;
}

const Viewer kAdmin{.user = "admin", .everywhere = true, .namespaces = {}, .nodes = true, .queues = true};
const Viewer kTenant{
    .user = "ann", .everywhere = false, .namespaces = {"ml"}, .nodes = true, .queues = false};

model::Snapshot twoTenants() {
  const model::Job mine = job("ml/bert").role("worker", 1, gpus(4)).placed("n1", "worker", "0");
  const model::Job theirs = job("secret/plan9").role("worker", 1, gpus(2)).placed("n1", "worker", "0");
  return cluster()
      .add(node("n1").gpus(8).rack("r1"))
      .add(node("n2").gpus(8).rack("r2").cordoned())
      .add(node("n3").gpus(0).rack("r2"))
      .add(mine)
      .add(theirs)
      .add(pod("ml/bert-worker-0").memberOf(mine, "worker", 0).on("n1").gpus(4))
      .add(pod("secret/plan9-worker-0").memberOf(theirs, "worker", 0).on("n1").gpus(2))
      .add(pod("secret/notebook").on("n2").gpus(1))
      .add(pod("ml/notebook").on("n2").gpus(3));
}

TEST_CASE("GPUs of other namespaces are used and have no name") {
  const Facts facts = factsOf(twoTenants());
  const auto tenant = describe(facts, kTenant);
  CHECK(partOf(tenant, "nodes/0") == R"([["n1",8,2,0,"ml/bert",4,"?",2],["n2",8,4,2,"*",3,"?",1]])");
  CHECK_THAT(allOf(tenant), !Catch::Contains("secret") && !Catch::Contains("plan9"));
  CHECK(partOf(tenant, "queues") == "null");
  CHECK(partOf(describe(facts, kAdmin), "nodes/0") ==
        R"([["n1",8,2,0,"ml/bert",4,"secret/plan9",2],["n2",8,4,2,"*",4]])");
}

TEST_CASE("A user who may read nothing sees nothing") {
  const auto sections =
      describe(factsOf(twoTenants()),
               {.user = "eve", .everywhere = false, .namespaces = {}, .nodes = false, .queues = false});
  CHECK(partOf(sections, "totals") == R"({"jobs":0,"listed":0,"phases":{}})");
  CHECK(partOf(sections, "map") == R"({"nodes":0,"names":["rack","node"],"levels":[]})");
  CHECK(partOf(sections, "nodes/0") == "(none)");
  CHECK_THAT(allOf(sections), !Catch::Contains("n1") && !Catch::Contains("bert"));
}

TEST_CASE("Domains are runs of nodes with GPUs and free GPUs beside used ones are fragments") {
  const auto sections = describe(factsOf(twoTenants()), kAdmin);
  CHECK(
      partOf(sections, "map") ==
      R"({"nodes":2,"names":["rack","node"],"levels":[{"name":"rack","domains":[["r1",0,1],["r2",1,2]]}]})");
  CHECK_THAT(partOf(sections, "totals"),
             Catch::StartsWith(R"({"gpus":16,"free":6,"fragments":6,"nodesWithout":1)"));
}

TEST_CASE("Names of others are removed from the operator's messages") {
  const Names known{"ml", "secret"};
  const auto clean = [&](std::string_view text) { return withoutOthers(text, kTenant, known); };
  CHECK(clean("blocked by secret/plan9 (6 nodes), ml/bert, zone-a/rack-3.") ==
        "blocked by one of another namespace (6 nodes), ml/bert, zone-a/rack-3.");
  CHECK(clean("behind secret/plan9: needs 4 nvidia.com/gpu") ==
        "behind one of another namespace: needs 4 nvidia.com/gpu");
  CHECK(clean("secret/a.b.") == "one of another namespace.");
  CHECK(withoutOthers("secret/plan9", kAdmin, known) == "secret/plan9");
}

// Any text in a message or an Event stays one JSON string in one line of one event.
TEST_CASE("Nothing breaks out of the text that it is in") {
  model::Job waiting = job("ml/bert").role("worker", 1, gpus(4)).condition(model::conditions::kQueued);
  waiting.status.pending =
      model::Pending{.reason = model::PendingReason::kInvalidTemplate, .message = kHostile};
  waiting.status.conditions.front().message = kHostile;
  waiting.status.phase = kHostile;
  const Facts facts = factsOf(cluster().add(node("n1").gpus(8)).add(waiting));
  for (const Section& each : describe(facts, kTenant)) {
    CHECK(each.json.find('\n') == std::string::npos);
    CHECK(codec::JsonDocument::parse(each.json).has_value());
  }
  const std::string events =
      R"({"items":[{"involvedObject":{"uid":")" + waiting.uid.str() +
      R"("},"eventTime":"2026-01-01T00:00:00.5Z","reason":"<script>","message":"</script>\n\nevent: x"},)" +
      R"({"involvedObject":{"uid":"another"},"eventTime":"2026-01-01T00:00:00Z","reason":"Older","message":""}]})";
  const std::string page = describeJobPage(facts, kTenant, *facts.snapshot.jobs.front(), events);
  CHECK(page.find('\n') == std::string::npos);
  const auto read = codec::JsonDocument::parse(page);
  REQUIRE(read.has_value());
  CHECK(read->root().find("pending").find("message").string().value_or("").substr(0, 28) ==
        kHostile.substr(0, 28));
  CHECK_THAT(page, Catch::Contains("<script>") && !Catch::Contains("Older"));
}

TEST_CASE("A timeline is in order of time and includes what is to come") {
  model::Job waiting =
      job("ml/bert").role("worker", 2, gpus(4)).condition(model::conditions::kQueued).created(0);
  waiting.spec.locality.levels = {{"rack", std::chrono::seconds(60)}};
  waiting.status.conditions.front().lastTransition = at(10);
  waiting.status.pending.emplace().estimatedStart = at(900);
  const Facts facts = factsOf(cluster().add(node("n1").gpus(8).rack("r1")).add(waiting).now(20));
  const auto read =
      codec::JsonDocument::parse(describeJobPage(facts, kAdmin, *facts.snapshot.jobs.front(), "{}"));
  std::string moments;
  read->root().find("timeline").forEachElement([&](const codec::JsonValue& each) {
    moments += std::string(each.find("what").string().value_or("")) +
               (each.find("ahead").boolean().value_or(false) ? "! " : " ");
  });
  CHECK(moments == "Created Queued Relaxed! Expected start! ");
}

TEST_CASE("A what-if is answered by the operator's own forecast") {
  const Facts facts = factsOf(twoTenants());
  const auto tried = [&](const WhatIfJob& whatIfJob) {
    const auto made = jobOf(whatIfJob, facts.snapshot.now);
    REQUIRE(made.has_value());
    core::CycleInput input;
    input.snapshot = facts.snapshot;
    input.feedback[(*made)->key].templateError = "";
    return describeForecast(core::forecast(input, {*made}).front(), kTenant, facts.namespaces);
  };
  CHECK_THAT(tried({.ns = "ml", .queue = "", .members = 1, .gpus = 2}),
             Catch::Contains(R"("outcome":"Starts","where":"node n1")"));
  const std::string waits = tried({.ns = "ml", .queue = "", .members = 1, .gpus = 8});
  CHECK_THAT(waits, Catch::Contains(R"("outcome":"Waits")") && !Catch::Contains("secret"));
  CHECK_FALSE(jobOf({.ns = "ml", .queue = "", .members = 100'000}, facts.snapshot.now).has_value());
  CHECK_FALSE(jobOf({.ns = "", .queue = ""}, facts.snapshot.now).has_value());
}

TEST_CASE("Jobs keep their section when others are added or removed") {
  SnapshotBuilder few = cluster().add(node("n1").gpus(8));
  few.add(job("ml/b").role("worker", 1, gpus(1)));
  SnapshotBuilder more = few;
  more.add(job("ml/a").role("worker", 1, gpus(1)));
  const auto before = describe(factsOf(few), kAdmin);
  const auto after = describe(factsOf(more), kAdmin);
  REQUIRE(before.size() == after.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) changed += before[i] == after[i] ? 0 : 1;
  CHECK(changed == 2);  // totals, and the section of the new one
}

}  // namespace
}  // namespace trainyard::operator_::console::test
