#include "codec/late_members.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainyard::codec {
namespace {

using model::JobSpec;

// With spec.elastic, minAvailable is one more lower bound of the gang's size.
std::string raiseMinimum(JobSpec& spec, int minimum) {
  model::Elastic& elastic = *spec.elastic;
  const int others = spec.totalReplicas() - elastic.replicas;
  if (minimum < others + elastic.minReplicas)
    return fmt::format("spec.gang.minAvailable (with spec.elastic.minReplicas {} pods have to be there)",
                       others + elastic.minReplicas);
  elastic.minReplicas = minimum - others;
  return {};
}

}  // namespace

std::string readLateMembers(JobSpec& spec) {
  if (!spec.minAvailable) return {};
  const int minimum = *spec.minAvailable;
  spec.minAvailable.reset();
  if (spec.plan.automatic) return {};
  if (spec.elastic) return raiseMinimum(spec, minimum);
  const int asked = spec.totalReplicas() - minimum;
  if (asked <= 0) return {};
  if (model::traitsOf(spec.framework).launchesOverSsh)
    return "spec.gang.minAvailable (its launcher begins on all hosts at once, so all pods have to be there)";
  const auto largest =
      std::max_element(spec.roles.begin(), spec.roles.end(),
                       [](const auto& a, const auto& b) { return a.replicas <= b.replicas; });
  const int late = std::min(asked, largest->replicas - 1);
  if (late == 0) return "spec.gang.minAvailable (no role has a second pod that could come later)";
  spec.elastic = model::Elastic{.role = largest->name,
                                .replicas = largest->replicas,
                                .minReplicas = largest->replicas - late,
                                .maxReplicas = largest->replicas,
                                .cooldown = std::chrono::seconds(0)};
  spec.minAvailable = spec.totalReplicas() - late;
  if (late == asked) return {};
  return fmt::format(
      "spec.gang.minAvailable (only pods of role {} but its first can come later, so {} have to be there)",
      largest->name, *spec.minAvailable);
}

}  // namespace trainyard::codec
