#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/elastic/resizes.h"

namespace trainyard::core {

// The elastic gangs by what this cycle may do with their sizes.
struct ResizableGangs {
  using JobPtr = std::shared_ptr<const model::Job>;

  std::size_t elastic = 0;  // all that take part
  std::vector<JobPtr> mayChange;
  std::vector<JobPtr> missing;  // below their desired size
  std::vector<JobPtr> surplus;  // above it; others may be given the excess now or later
  // templateKey() of gangs that must not grow: no node is compared (core/elastic/long_constraints.h).
  std::set<std::string> leftOut;
  // When a cooldown, a back-off or an interval ends.
  std::optional<base::WallTime> wakeAt;

  [[nodiscard]] bool isLeftOut(const model::Job& job) const;
};
[[nodiscard]] ResizableGangs findResizable(const ResizeRequest& request);

// Gangs with one key have the same constraints on nodes.
[[nodiscard]] std::string templateKey(const model::Job& job);
[[nodiscard]] inline const model::Role& elasticRoleOf(const model::Job& job) {
  return *job.spec.findRole(job.spec.elastic->role);
}

}  // namespace trainyard::core
