#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/job.h"
#include "model/traffic_pod.h"

namespace trainyard::codec {

// A Pod with the fields that the node agent needs. An unreadable annotation counts as absent: the pod is
// treated as any other.
[[nodiscard]] base::Result<model::TrafficPod> decodeTrafficPod(std::string_view json);

// Returns the value of model::kTrafficAnnotation for members of the role; empty if they need none. Parameter
// servers have one, and so do all members of a job that requests a band.
[[nodiscard]] std::string encodeTrafficOrder(const model::Job& job, std::string_view role);

}  // namespace trainyard::codec
