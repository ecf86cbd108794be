#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launch/member_environment.h"

namespace trainyard::launch {

inline constexpr int kHubPort = 29'390;

// The settings of a supervisor. Programs of the job use those that concern its hub.
struct SupervisorOptions {
  std::vector<std::string> command;
  Environment environment;
  std::string membershipFile = {};  // empty: the size never changes
  std::chrono::milliseconds grace{30'000};
  std::chrono::milliseconds settle{15'000};
  bool keep = false;       // the program handles a new membership itself: only a leaving member is ended
  std::string token = {};  // empty: no tasks
  std::string hubHost = {};
  int hubPort = kHubPort;
  int slots = 1;
};

// Reads the variables that the operator sets, and TRAINYARD_ON_RESIZE=keep, TRAINYARD_SLOTS and
// TRAINYARD_SETTLE_SECONDS from the template.
[[nodiscard]] SupervisorOptions supervisorOptions(const Environment& environment,
                                                  std::vector<std::string> command);

}  // namespace trainyard::launch
