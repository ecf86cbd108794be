#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "model/limits.h"
#include "model/set_condition.h"

using namespace trainyard;

TEST_CASE("a condition's message is cut to the API server's limit between two characters") {
  std::vector<model::Condition> conditions;
  const std::string longer = std::string(model::limits::kConditionMessage - 1, 'x') + "é and more";
  model::setCondition(conditions, "Admitted", model::ConditionStatus::kFalse, "InvalidTemplate", longer, {},
                      1);
  REQUIRE(conditions.size() == 1);
  CHECK(conditions.front().message == std::string(model::limits::kConditionMessage - 1, 'x'));
}
