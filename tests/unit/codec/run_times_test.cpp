#include "codec/run_times.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace trainyard;  // NOLINT(google-build-using-namespace): test

namespace {

std::string configMap(const std::string& runs) {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"7"}},"data":{{"runs":{}}}}})", runs);
}

TEST_CASE("run times: what is written is read") {
  model::RunTimes times;
  times.kinds["job/ml/bert/8"] = {
      {base::WallTime(std::chrono::seconds(1'700'000'000)), std::chrono::seconds(60), 4'294'967'295},
      {base::WallTime(std::chrono::seconds(1'700'000'100)), std::chrono::seconds(0), 0}};
  times.kinds["queue/a\"b/1"] = {{base::WallTime(std::chrono::seconds(5)), std::chrono::seconds(1), 7}};
  auto patch = codec::encodeRunTimesPatch("7", times);
  const auto read = codec::decodeRunTimes(patch);
  REQUIRE(read);
  CHECK(read->resourceVersion == "7");
  CHECK(read->complaint.empty());
  CHECK(read->times == times);
}

TEST_CASE("run times: an empty ConfigMap has none") {
  const auto read = codec::decodeRunTimes(R"({"metadata":{"resourceVersion":"7"}})");
  REQUIRE(read);
  CHECK(read->times.kinds.empty());
  CHECK(read->complaint.empty());
}

TEST_CASE("run times: an unusable entry is named and the others are read") {
  const auto complaint = [](const std::string& runs, std::size_t kinds = 0) {
    const auto read = codec::decodeRunTimes(configMap(runs));
    REQUIRE(read);
    CHECK(read->resourceVersion == "7");
    CHECK(read->times.kinds.size() == kinds);
    return read->complaint;
  };
  CHECK(complaint(R"("{\"a\":[[1,60,1]],\"b\":[[1,-60,1]]}")", 1).find("data.runs[b][0][1]") == 0);
  CHECK(complaint(R"("{\"a\":[[1e99,60,1]]}")").find("data.runs[a][0][0]") == 0);
  CHECK(complaint(R"("{\"a\":[[1]]}")") == "data.runs[a][0]: must be three numbers: submitted, ran, job");
  CHECK(complaint(R"("{\"a\":7}")").find("data.runs[a]") == 0);
  CHECK(complaint(R"("no json")").find("data.runs: ") == 0);
  CHECK_FALSE(codec::decodeRunTimes("[]"));
}

}  // namespace
