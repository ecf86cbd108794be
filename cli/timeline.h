#pragma once

#include <string>

#include "base/error.h"

namespace trainyard::cli {

// Returns the history of a job, oldest first: its creation, its conditions as they last changed, its Events,
// its expected start. `job`: the TrainingJob; `events`: a list of core/v1 Events about it; both are JSON of
// the API server. Events expire after an hour, conditions stay.
[[nodiscard]] base::Result<std::string> timelineText(const std::string& job, const std::string& events);
// The same as {"namespace","name","moments":[{"time","what","message"}]}.
[[nodiscard]] base::Result<std::string> timelineJson(const std::string& job, const std::string& events);

}  // namespace trainyard::cli
