#pragma once

#include <optional>

#include "model/failure_class.h"

namespace trainyard::core {

// The default action of a failure class, which a policy or a job may override.
struct DefaultReaction {
  model::FailureAction action = model::FailureAction::kEndNow;
  // The number of restarts allowed for failures of this class; absent: unlimited.
  std::optional<int> restarts = 0;
};

[[nodiscard]] DefaultReaction defaultReaction(model::FailureClass failure);

}  // namespace trainyard::core
