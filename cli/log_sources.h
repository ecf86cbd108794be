#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/job.h"

// Selects the members for `trainyard logs`. Pure.
namespace trainyard::cli {

// The chosen members: all of the process group, one of its ranks, or one by role and index.
struct LogChoice {
  bool all = false;
  int rank = 0;
  std::string role = {};  // not empty: replaces the rank
  int index = 0;
};

struct LogSource {
  std::string pod;
  std::string label;  // in front of its lines if there are several members: "[3] " for rank 3
};

// kNotFound if the group has no such rank.
[[nodiscard]] base::Result<std::vector<LogSource>> logSourcesOf(const model::Job& job,
                                                                const LogChoice& choice);

// Returns the text with the label in front of each line.
[[nodiscard]] std::string labelled(std::string_view text, std::string_view label);

// One run of a pod's containers: a restart is a new run, in a new pod or in the same.
using LogRun = std::pair<std::string, std::string>;  // pod, uid and restarts

// Returns the runs of these sources that have begun, from the API server's list of pods. kInvalid: no list.
[[nodiscard]] base::Result<std::vector<LogRun>> begunRuns(const std::vector<LogSource>& sources,
                                                          std::string_view pods);

}  // namespace trainyard::cli
