#pragma once

#include <string>

#include "base/error.h"
#include "sim/api/json.h"

namespace trainyard::sim {

// How jobs run on nodes without programs, and how they end, by name (examples/story.yaml):
//
// fails: {ends: Failed, worker: {run-for: 3s, exit-code: "1"}}
//
// kInvalid if the text is not such a file. An empty text is an empty script.
[[nodiscard]] base::Result<Json> parseScript(const std::string& text, const std::string& file);

// Writes the script into the job, as the annotations that simulated kubelets and the story read. Existing
// annotations of the job are kept.
void followScript(const Json& script, Json& job);

}  // namespace trainyard::sim
