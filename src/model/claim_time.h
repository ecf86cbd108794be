#pragma once

#include <chrono>

namespace trainyard::model {

// From a claim to its deadline, after which it is given up.
inline constexpr std::chrono::milliseconds kClaimTime{600'000};

}  // namespace trainyard::model
