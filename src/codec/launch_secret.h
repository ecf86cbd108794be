#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::codec {

// The key of the Secret's data.
inline constexpr std::string_view kLaunchToken = "token";

// "JOB-launch-UID": an existing Secret of that name is the job's own, and need not be read to verify that.
[[nodiscard]] std::string launchSecretName(const model::Job& job);

// The v1 Secret with the token by which the members of one job authenticate each other
// (launch/channel.h).
[[nodiscard]] std::string encodeLaunchSecret(const model::Job& job, std::string_view token);

}  // namespace trainyard::codec
