#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::codec {

// Key of the Secret's data.
inline constexpr std::string_view kLaunchToken = "token";

// "JOB-launch-UID": where it exists it is the job's own, and need not be read to know that.
[[nodiscard]] std::string launchSecretName(const model::Job& job);

// The v1 Secret with what the members of one job prove to each other that they are its members
// (launch/channel.h).
[[nodiscard]] std::string encodeLaunchSecret(const model::Job& job, std::string_view token);

}  // namespace trainyard::codec
