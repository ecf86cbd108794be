#include "cli/classify.h"

#include <catch2/catch.hpp>

using namespace trainyard;

namespace {

cli::ClassifiedCase judged(const std::string& name, model::FailureClass expected, model::FailureClass found,
                           std::string root = "worker-0") {
  cli::ClassifiedCase made;
  made.given.name = name;
  made.given.members.push_back({.role = "worker", .index = 0});
  made.given.expect = codec::ExpectedFailure{expected, std::move(root)};
  made.found = {.failure = found, .rule = "r", .root = 0, .line = "the line"};
  return made;
}

}  // namespace

TEST_CASE("macro-F1 counts every class alike and mistakes are listed") {
  using enum model::FailureClass;
  const cli::ClassifyScore all =
      cli::scoreCases({judged("a", kAborted, kAborted), judged("b", kEvicted, kEvicted)});
  CHECK(all.macroF1 == 1'000);
  CHECK(all.roots == 1'000);
  const cli::ClassifyScore some =
      cli::scoreCases({judged("a", kAborted, kAborted), judged("b", kAborted, kAborted),
                       judged("c", kEvicted, kAborted, "worker-1")});
  CHECK(some.macroF1 == 400);  // 4/5 of one class, nothing of the other
  CHECK(some.roots == 666);
  CHECK(some.text.find("c   expected Evicted worker-1   found Aborted worker-0   by r\n") !=
        std::string::npos);
}

TEST_CASE("classified cases are shown as a table and as JSON") {
  const std::vector<cli::ClassifiedCase> one = {
      judged("a", model::FailureClass::kAborted, model::FailureClass::kDiskFull)};
  CHECK(
      cli::classifyJson(one) ==
      R"([{"name":"a","class":"DiskFull","party":"Infrastructure","action":"Restart","rootMember":"worker-0",)"
      R"("rule":"r","confidence":"Low","note":"","line":"the line"}])"
      "\n");
  CHECK(cli::classifyTable(one) ==
        "CASE   CLASS      ROOT       ACTION    RULE   CONFIDENCE   LINE\n"
        "a      DiskFull   worker-0   Restart   r      Low          the line\n");
}
