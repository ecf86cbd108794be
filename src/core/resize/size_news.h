#pragma once

#include <string>

#include "core/resize/surplus.h"
#include "model/resize.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A size that was decided for a job, by whom, and why.
struct SizeNews {
  int members = 0;
  model::SizeOwner by = model::SizeOwner::kSpec;
  std::string why;  // "grows to 4 of 2 to 8: nobody waits for this room"
  friend bool operator==(const SizeNews&, const SizeNews&) = default;
};

// Writes it into status.resize. For a cooldown from now on the job is left alone by whoever nobody asked.
void tellSize(const model::Job& job, SizeNews news, const model::Snapshot& snapshot,
              model::ResizeStatus& status);

// How long the job is left alone after a size was decided: its own cooldown, at least the policy's interval.
[[nodiscard]] base::WallTime::duration cooldownOf(const model::Job& job, const model::Policy& policy);

}  // namespace trainyard::core
