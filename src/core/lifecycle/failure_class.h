#pragma once

#include <optional>

#include "model/failure_class.h"

namespace trainyard::core {

// What a class asks for by itself, before a policy or a job says otherwise.
struct WhatFollows {
  model::FailureAction action = model::FailureAction::kEndNow;
  // So often a job is started again for failures of this class; absent: as often as it takes.
  std::optional<int> restarts = 0;
};

[[nodiscard]] WhatFollows whatFollows(model::FailureClass failure);

}  // namespace trainyard::core
