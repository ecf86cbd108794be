#pragma once

#include <string>

#include "core/resize/surplus.h"
#include "model/resize.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A size that was decided for a job, the owner of the decision, and the reason.
struct SizeDecision {
  int members = 0;
  model::SizeOwner by = model::SizeOwner::kSpec;
  std::string why;  // "grows to 4 of 2 to 8: no job waits for this capacity"
  friend bool operator==(const SizeDecision&, const SizeDecision&) = default;
};

// Writes the size into status.resize. Starts a cooldown, during which no automatic resize touches the job.
void recordSize(const model::Job& job, SizeDecision update, const model::Snapshot& snapshot,
                model::ResizeStatus& status);

// The cooldown after a size was decided: the job's own, but at least the policy's interval.
[[nodiscard]] base::WallTime::duration cooldownOf(const model::Job& job, const model::Policy& policy);

}  // namespace trainyard::core
