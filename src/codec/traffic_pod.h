#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/job.h"
#include "model/traffic_pod.h"

namespace trainyard::codec {

// A Pod as the node agent sees it. An annotation that cannot be read counts as absent: the pod is ordered as
// any other.
[[nodiscard]] base::Result<model::TrafficPod> decodeTrafficPod(std::string_view json);

// The value of model::kTrafficAnnotation for members of the role; empty where they need none. Servers have
// it, and everybody in a job that names a band.
[[nodiscard]] std::string encodeTrafficOrder(const model::Job& job, std::string_view role);

}  // namespace trainyard::codec
