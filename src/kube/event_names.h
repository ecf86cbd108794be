#pragma once

#include <string>

#include "base/time.h"

namespace trainyard::kube {

// Names for new Event objects of one recorder.
class EventNames {
 public:
  // "OBJECT.NANOSECONDS": the clock has microseconds; the last three digits distinguish names within one.
  [[nodiscard]] std::string next(const std::string& object, base::WallTime now);

 private:
  int sequence_ = 0;
};

}  // namespace trainyard::kube
