#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/job.h"

// Whose logs `trainyard logs` reads. Pure.
namespace trainyard::cli {

// Which members: all of the process group, one of its ranks, or one by role and index.
struct LogChoice {
  bool all = false;
  int rank = 0;
  std::string role = {};  // not empty: in place of the rank
  int index = 0;
};

struct LogSource {
  std::string pod;
  std::string label;  // in front of its lines where there are several: "[3] " of rank 3
};

// kNotFound where the group has no such rank.
[[nodiscard]] base::Result<std::vector<LogSource>> logSourcesOf(const model::Job& job,
                                                                const LogChoice& choice);

// The text with the label in front of each line.
[[nodiscard]] std::string labelled(std::string_view text, std::string_view label);

// One run of a pod's containers: a restarted member is another one, by another pod or in the same.
using LogRun = std::pair<std::string, std::string>;  // pod, uid and restarts

// Runs of these sources that have begun, by the API server's list of pods. kInvalid for what is no list.
[[nodiscard]] base::Result<std::vector<LogRun>> begunRuns(const std::vector<LogSource>& sources,
                                                          std::string_view pods);

}  // namespace trainyard::cli
