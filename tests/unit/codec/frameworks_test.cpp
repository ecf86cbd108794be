#include "model/framework.h"

#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/job.h"

using namespace trainyard;
using model::Framework;

TEST_CASE("the CRD lists exactly the frameworks of the code") {
  std::string listed;
  for (const auto& each : model::kFrameworks)
    listed += fmt::format("{}{}", listed.empty() ? "" : ", ", each.name);
  std::ifstream file(std::string(TRAINYARD_SOURCE_DIR) + "/crds/trainyard.dev_trainingjobs.yaml");
  const std::string crd{std::istreambuf_iterator<char>(file), {}};
  CHECK_THAT(crd, Catch::Contains("enum: [" + listed + "]"));
}

TEST_CASE("every framework reads back from a job") {
  for (const auto& each : model::kFrameworks) {
    CAPTURE(each.name);
    CHECK(model::frameworkNamed(each.name) == each.framework);
    const auto job = codec::decodeJob(fmt::format(
        R"({{"metadata":{{"name":"j","namespace":"ml"}},"spec":{{"framework":"{}","roles":[
            {{"name":"worker","template":{{"spec":{{"containers":[{{"name":"c","image":"x"}}]}}}}}}]}}}})",
        each.name));
    REQUIRE(job);
    CHECK(job->specError.empty());
    CHECK(job->spec.framework == each.framework);
  }
  CHECK_FALSE(model::frameworkNamed("XGBoost"));
}

// The names of files in running jobs hash these numbers (codec/framework_files.cpp): append new frameworks
// only.
TEST_CASE("a framework keeps its number") {
  CHECK(static_cast<int>(Framework::kPyTorch) == 0);
  CHECK(static_cast<int>(Framework::kTensorFlow) == 1);
  CHECK(static_cast<int>(Framework::kJax) == 2);
  CHECK(static_cast<int>(Framework::kMxNet) == 3);
  CHECK(static_cast<int>(Framework::kHorovod) == 4);
  CHECK(static_cast<int>(Framework::kMpi) == 5);
  CHECK(static_cast<int>(Framework::kCustom) == 6);
}
