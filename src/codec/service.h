#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::codec {

// Name of the job's headless Service, which is the subdomain of its pods.
[[nodiscard]] std::string serviceName(const model::Job& job);

// The headless v1 Service that gives every pod its DNS name before it is ready: frameworks meet by name to
// become so.
[[nodiscard]] std::string encodeService(const model::Job& job);

// The headless v1 Service by which a member's name alone is a host name, as spec.gang.memberServices asks
// for; its own name is the member's.
[[nodiscard]] std::string encodeMemberService(const model::Job& job, std::string_view role, int index);

}  // namespace trainyard::codec
