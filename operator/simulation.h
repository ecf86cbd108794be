#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "core/forecast/forecast.h"

namespace trainyard::operator_ {

// Forecasts of jobs that do not exist, as `trainyard simulate` reports them.
struct Simulation {
  std::vector<core::Forecast> forecasts = {};  // in the order of the jobs
  base::WallTime now{};
  std::string policy = {};              // source of the policy
  std::vector<std::string> notes = {};  // what the answers leave out
};

// Gives the role the shape of its pods, taken from an admitted pod in the job's namespace. kInvalid as in
// codec::decodeAdmittedPod().
[[nodiscard]] base::Result<void> takeAdmittedPod(std::string_view pod, std::string_view ns,
                                                 model::Role& role);

// Calls core::forecast() after choosing the shapes of jobs that ask for one, as the operator does at
// admission.
[[nodiscard]] std::vector<core::Forecast> tryJobs(core::CycleInput input,
                                                  std::vector<std::shared_ptr<const model::Job>> jobs);

}  // namespace trainyard::operator_
