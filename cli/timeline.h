#pragma once

#include <string>

#include "base/error.h"

namespace trainyard::cli {

// What happened to a job, the oldest first: its creation, its conditions as they last changed, its Events,
// when it is expected to start. `job`: the TrainingJob; `events`: a list of core/v1 Events about it; both
// JSON of the API server. Events go after an hour, conditions stay.
[[nodiscard]] base::Result<std::string> timelineText(const std::string& job, const std::string& events);
// The same as {"namespace","name","moments":[{"time","what","message"}]}.
[[nodiscard]] base::Result<std::string> timelineJson(const std::string& job, const std::string& events);

}  // namespace trainyard::cli
