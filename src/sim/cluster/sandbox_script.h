#pragma once

#include <string>

#include "base/error.h"
#include "sim/api/json.h"

namespace trainyard::sim {

// How jobs go on nodes that run nothing, and how they end, by name (examples/story.yaml):
//
//   fails: {ends: Failed, worker: {run-for: 3s, exit-code: "1"}}
//
// kInvalid for what is no such file. An empty text is a script of nobody.
[[nodiscard]] base::Result<Json> parseScript(const std::string& text, const std::string& file);

// Writes it into the job, as the annotations that simulated kubelets and the story read. What the job says by
// itself is left.
void followScript(const Json& script, Json& job);

}  // namespace trainyard::sim
