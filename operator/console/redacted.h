#pragma once

#include "core/forecast.h"
#include "operator/console/viewer.h"

namespace trainyard::operator_::console {

// Returns the forecast as the viewer may see it. Jobs of hidden namespaces are all named "one of another
// namespace", without namespace or queue. Times, nodes and amounts stay, because they affect the viewer's own
// job.
[[nodiscard]] core::Forecast redacted(core::Forecast forecast, const Viewer& viewer, const Names& known);

}  // namespace trainyard::operator_::console
