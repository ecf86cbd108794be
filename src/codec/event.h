#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace trainyard::codec {

// The object that an event is about.
struct ObjectRef {
  std::string apiVersion;
  std::string kind;
  std::string ns = {};  // empty for cluster-scoped objects
  std::string name;
  std::string uid = {};
};

// events.k8s.io/v1 Event. What the API server would refuse for its length is cut by encodeEvent().
struct Event {
  std::string ns;
  std::string name;
  base::WallTime time;  // of the first occurrence
  std::string type;     // Normal, Warning
  std::string reason;   // UpperCamelCase, for machines
  std::string action;   // what was done or tried, UpperCamelCase
  std::string note;     // for people
  std::string reportingController;
  std::string reportingInstance;
  ObjectRef regarding;
  std::int64_t count = 1;
  base::WallTime lastObserved = {};  // of the last occurrence; used when count is above 1
};

[[nodiscard]] std::string encodeEvent(const Event& event);
// Merge patch that sets how often an event has occurred.
[[nodiscard]] std::string encodeEventSeries(std::int64_t count, base::WallTime lastObserved);

}  // namespace trainyard::codec
