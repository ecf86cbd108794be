#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/forecast.h"
#include "operator/console/view.h"

namespace trainyard::operator_::console {

// Describes one job of a namespace that the viewer sees: its requests, conditions, placement, why it is
// pending, and its timeline. The timeline lists creation, condition changes, relaxations, Events, the last
// preemption and failure, and what is expected, in the order of time. `events` is the API server's list of
// core/v1 Events about the job; empty if unavailable.
[[nodiscard]] std::string describeJobPage(const Facts& facts, const Viewer& viewer, const model::Job& job,
                                          std::string_view events);

// A hypothetical job of `members` pods with `gpus` GPUs each.
struct WhatIfJob {
  std::string ns;
  std::string queue;
  int members = 1;
  int gpus = 1;
  std::string level = {};     // locality.required; empty: anywhere
  std::string priority = {};  // class; empty: the cluster's default
  bool preemptible = false;
  int hours = 0;  // estimated; 0: no estimate
};

// kInvalid names the field that is out of bounds. The forecast itself checks names.
[[nodiscard]] base::Result<std::shared_ptr<const model::Job>> jobOf(const WhatIfJob& whatIfJob,
                                                                    base::WallTime now);

// Describes `forecast` as JSON, without names that the viewer must not see.
[[nodiscard]] std::string describeForecast(const core::Forecast& forecast, const Viewer& viewer,
                                           const Names& namespaces);

}  // namespace trainyard::operator_::console
