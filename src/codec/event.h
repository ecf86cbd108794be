#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace trainyard::codec {

// The object that an event refers to.
struct ObjectRef {
  std::string apiVersion;
  std::string kind;
  std::string ns = {};  // empty for cluster-scoped objects
  std::string name;
  std::string uid = {};
};

// An events.k8s.io/v1 Event. encodeEvent() cuts texts that exceed the API server's length limits.
struct Event {
  std::string ns;
  std::string name;
  base::WallTime time;  // of the first occurrence
  std::string type;     // Normal, Warning
  std::string reason;   // UpperCamelCase, for machines
  std::string action;   // what was done or attempted, UpperCamelCase
  std::string note;     // for people
  std::string reportingController;
  std::string reportingInstance;
  ObjectRef regarding;
  std::int64_t count = 1;
  base::WallTime lastObserved = {};  // of the last occurrence; used when count is above 1
};

[[nodiscard]] std::string encodeEvent(const Event& event);
// A merge patch that sets the number of occurrences of an event.
[[nodiscard]] std::string encodeEventSeries(std::int64_t count, base::WallTime lastObserved);

}  // namespace trainyard::codec
