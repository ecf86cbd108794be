#pragma once

#include <string>
#include <string_view>

#include "model/policy.h"
#include "scenario/scenario_file.h"

// The statements of a scenario as the API objects that a user would write, in JSON. The runner of a single
// moment decodes them; the runner in time sends them to the API server.
namespace trainyard::test {

[[nodiscard]] std::string nodeJson(const NodeText& node);
[[nodiscard]] std::string podJson(const PodText& pod);
[[nodiscard]] std::string queueJson(const QueueText& queue);
[[nodiscard]] std::string classJson(const ClassText& priorityClass);
[[nodiscard]] std::string namespaceJson(const NamespaceText& space);
[[nodiscard]] std::string jobJson(const JobText& job);

// Returns the policy of the `policy` block and `level` lines; refuses what the policy reader refuses.
[[nodiscard]] model::Policy policyOf(const Scenario& scenario);

}  // namespace trainyard::test
