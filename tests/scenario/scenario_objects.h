#pragma once

#include <string>
#include <string_view>

#include "model/policy.h"
#include "scenario/scenario_file.h"

// The statements of a scenario as the API objects that a user would write, in JSON. Both runners use them:
// the one of a single moment decodes them, the one in time sends them to the API server.
namespace trainyard::test {

[[nodiscard]] std::string nodeJson(const NodeText& node);
[[nodiscard]] std::string podJson(const PodText& pod);
[[nodiscard]] std::string queueJson(const QueueText& queue);
[[nodiscard]] std::string classJson(const ClassText& priorityClass);
[[nodiscard]] std::string namespaceJson(const NamespaceText& space);
[[nodiscard]] std::string jobJson(const JobText& job);

// What the scenario's `policy` block and `level` lines say; refuses what its reader does not take.
[[nodiscard]] model::Policy policyOf(const Scenario& scenario);

}  // namespace trainyard::test
