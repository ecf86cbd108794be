#include "cli/log_sources.h"

#include <catch2/catch.hpp>

#include "support/builders.h"

namespace trainyard::cli {
namespace {

using namespace trainyard::test;

std::string podsOf(LogChoice choice, const model::Job& job) {
  const auto sources = logSourcesOf(job, choice);
  if (!sources) return sources.error().message;
  std::string text;
  for (const LogSource& each : *sources) text += each.label + each.pod + " ";
  return text;
}

TEST_CASE("Ranks are those of the process group and other members are found by role and index") {
  const model::Job bert =
      job("ml/bert").role("ps", 1, gpus(0)).role("worker", 2, gpus(1)).role("master", 1, gpus(1));
  CHECK(podsOf({}, bert) == "bert-master-0 ");
  CHECK(podsOf({.rank = 2}, bert) == "bert-worker-1 ");
  CHECK(podsOf({.all = true}, bert) == "[0] bert-master-0 [1] bert-worker-0 [2] bert-worker-1 ");
  CHECK(podsOf({.role = "ps"}, bert) == "bert-ps-0 ");
  CHECK(podsOf({.rank = 3}, bert).starts_with("ml/bert has no rank 3"));
}

TEST_CASE("A restarted member is another run") {
  const std::vector<LogSource> sources = {{"bert-worker-0", ""}, {"bert-worker-1", ""}};
  const auto runs = begunRuns(
      sources, R"({"items":[{"metadata":{"name":"bert-worker-0","uid":"u1"},"status":{"phase":"Running",)"
               R"("containerStatuses":[{"restartCount":2},{"restartCount":1}]}},)"
               R"({"metadata":{"name":"bert-worker-1","uid":"u2"},"status":{"phase":"Pending"}},)"
               R"({"metadata":{"name":"bert-ps-0","uid":"u3"},"status":{"phase":"Running"}}]})");
  REQUIRE(runs);
  CHECK(*runs == std::vector<LogRun>{{"bert-worker-0", "u1/3"}});
  CHECK_FALSE(begunRuns(sources, "no"));
}

TEST_CASE("Each line has its label") {
  CHECK(labelled("a\nb\n", "[1] ") == "[1] a\n[1] b\n");
  CHECK(labelled("a\n\nb", "[1] ") == "[1] a\n[1] \n[1] b\n");
  CHECK(labelled("a", "") == "a");
}

}  // namespace
}  // namespace trainyard::cli
