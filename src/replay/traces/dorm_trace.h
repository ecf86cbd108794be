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

// A kind of application as Dorm describes one (arXiv 1704.06738): what each of its containers asks for, and
// how many of them it may have.
struct DormApplication {
  std::string name;
  model::Resources container;
  int least = 1;
  int wished = 1;
  int most = 1;
  double scaling = 1;  // n containers are n^scaling times as fast as one
};

struct DormTrace {
  Trace trace;  // durations are those of the sizes that are wished
  std::vector<DormApplication> applications;
  std::vector<std::size_t> kinds;  // of the trace's jobs: index into applications
};

// How many containers each kind of application gets, whoever else is there: a static partitioning.
using StaticSizes = std::map<std::string, int>;
// "lr=8,mf=4"; kInvalid otherwise.
[[nodiscard]] base::Result<StaticSizes> parseStaticSizes(std::string_view text);

// The jobs have name, application, submit_time and work in s, which is how long one container would take.
// Beside them in applications.csv: application, cpu, gpus and memory_gib of a container, least, wished and
// most containers, and scaling. With sizes, which must name every application of the file then, those are
// what each has from its start to its end. (tests/traces/dorm/README.md)
[[nodiscard]] base::Result<DormTrace> readDormJobs(
    const std::string& file, const StaticSizes& sizes,
    const std::function<base::Result<std::string>(const std::string&)>& readFile);

// Of a job with n members, as a part of its speed with `of` members.
[[nodiscard]] double scaledSpeed(int members, int of, double scaling);

}  // namespace trainyard::replay
