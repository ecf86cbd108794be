#pragma once

#include "core/cycle.h"
#include "operator/console/viewer.h"

namespace trainyard::operator_::console {

// The forecast as the viewer may have it: jobs of namespaces that he does not see are all called "one of
// another namespace", and have no namespace or queue. When, where and how much stays: it is what his own job
// meets with.
[[nodiscard]] core::Forecast redacted(core::Forecast forecast, const Viewer& viewer, const Names& known);

}  // namespace trainyard::operator_::console
