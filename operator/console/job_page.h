#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/cycle.h"
#include "operator/console/view.h"

namespace trainyard::operator_::console {

// Everything about one job of a namespace that the viewer sees: what it asks for, its conditions, where it
// is, why it waits, and its timeline: creation, conditions as they last changed, levels of the network that
// it was content with since, Events, the last stop and failure, and what is to come, in the order of time.
// `events`: the API server's list of core/v1 Events about it; empty where there are none to be had.
[[nodiscard]] std::string describeJobPage(const Facts& facts, const Viewer& viewer, const model::Job& job,
                                          std::string_view events);

// A job that nobody has submitted: so many pods of so many GPUs each.
struct Wish {
  std::string ns;
  std::string queue;
  int members = 1;
  int gpus = 1;
  std::string level = {};     // locality.required; empty: anywhere
  std::string priority = {};  // class; empty: the cluster's default
  bool preemptible = false;
  int hours = 0;  // estimated; 0: not said
};

// kInvalid says what is out of bounds; what a name may be is told by the forecast itself.
[[nodiscard]] base::Result<std::shared_ptr<const model::Job>> jobOf(const Wish& wish, base::WallTime now);

// `forecast` in words and numbers, without names that the viewer must not see.
[[nodiscard]] std::string describeForecast(const core::Forecast& forecast, const Viewer& viewer,
                                           const Names& namespaces);

}  // namespace trainyard::operator_::console
