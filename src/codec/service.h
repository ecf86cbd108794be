#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::codec {

// The name of the job's headless Service, which is the subdomain of its pods.
[[nodiscard]] std::string serviceName(const model::Job& job);

// The headless v1 Service that gives every pod a DNS name before it is ready: frameworks need the names of
// their peers to become ready.
[[nodiscard]] std::string encodeService(const model::Job& job);

// The headless v1 Service that makes a member's bare name a host name, as spec.gang.memberServices requests.
// The Service has the name of the member.
[[nodiscard]] std::string encodeMemberService(const model::Job& job, std::string_view role, int index);

}  // namespace trainyard::codec
