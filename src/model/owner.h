#pragma once

#include <string>

#include "model/ids.h"

namespace trainyard::model {

enum class OwnerEnd { kNone, kSucceeded, kFailed };

// The maker of a Gang's pods: an object of another controller, such as a JobSet, as its watch shows it; or
// users, for bare pods (kind "Pod", no name).
struct Owner {
  std::string apiVersion;
  std::string kind;
  std::string name;
  Uid uid;
  bool known = false;      // what follows is as the watch shows it; until then nothing is done to it
  bool suspends = false;   // its kind has a field that starts and stops it
  bool suspended = false;  // the value of that field
  OwnerEnd end = OwnerEnd::kNone;
  std::string endMessage = {};
  friend bool operator==(const Owner&, const Owner&) = default;
};

}  // namespace trainyard::model
