#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "core/cycle/simulate.h"

namespace trainyard::operator_ {

// What would become of jobs that nobody has created, as `trainyard simulate` tells it.
struct Simulation {
  std::vector<core::Forecast> forecasts = {};  // in the order of the jobs
  base::WallTime now{};
  std::string policy = {};              // where it came from
  std::vector<std::string> notes = {};  // what the answers leave out
};

// The role as its pods will be, by what admission made of one, in the job's namespace; kInvalid as of
// codec::decodeAdmittedPod().
[[nodiscard]] base::Result<void> takeAdmittedPod(std::string_view pod, std::string_view ns,
                                                 model::Role& role);

// core::forecast() of jobs whose shape is chosen first where they want one, as the operator does at
// admission.
[[nodiscard]] std::vector<core::Forecast> tryJobs(core::CycleInput input,
                                                  std::vector<std::shared_ptr<const model::Job>> jobs);

}  // namespace trainyard::operator_
