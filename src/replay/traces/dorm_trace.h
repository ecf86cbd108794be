#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/resources.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// A kind of application as Dorm describes it (arXiv 1704.06738): the requests of each container, and the
// bounds of their number.
struct DormApplication {
  std::string name;
  model::Resources container;
  int minimum = 1;
  int desired = 1;
  int most = 1;
  double scaling = 1;  // n containers are n^scaling times as fast as one
};

struct DormTrace {
  Trace trace;  // durations are those at the desired sizes
  std::vector<DormApplication> applications;
  std::vector<std::size_t> kinds;  // of the trace's jobs: index into applications
};

// A static partitioning: the number of containers of each kind of application, independent of other jobs.
using StaticSizes = std::map<std::string, int>;
// Parses "lr=8,mf=4"; kInvalid otherwise.
[[nodiscard]] base::Result<StaticSizes> parseStaticSizes(std::string_view text);

// The jobs have name, application, submit_time and work in s, which is the time that one container would
// take. applications.csv in the same folder has application, cpu, gpus and memory_gib of a container, least,
// wished and most containers, and scaling. `sizes`, if not empty, must name every application of the file;
// they are then fixed from the start to the end of each job. (tests/traces/dorm/README.md)
[[nodiscard]] base::Result<DormTrace> readDormJobs(
    const std::string& file, const StaticSizes& sizes,
    const std::function<base::Result<std::string>(const std::string&)>& readFile);

// The speed of a job with n members, relative to its speed with `of` members.
[[nodiscard]] double scaledSpeed(int members, int of, double scaling);

}  // namespace trainyard::replay
