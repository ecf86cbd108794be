#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/ids.h"

namespace trainyard::model {

// Of pods whose traffic agents order: one line of JSON, codec/traffic_pod.h. Beside names.h, which all the
// programs include, because only the agent reads it.
inline constexpr std::string_view kTrafficAnnotation = "trainyard.dev/network";

// What the operator tells of a job's traffic in an annotation of its pods.
struct TrafficOrder {
  bool off = false;                                             // left alone
  std::optional<int> band = std::nullopt;                       // absent: the agent chooses
  std::optional<base::WallTime> since = std::nullopt;           // when the job was made
  std::optional<std::chrono::seconds> expected = std::nullopt;  // how long it is expected to run
  friend bool operator==(const TrafficOrder&, const TrafficOrder&) = default;
};

// Projection of a gang's pod: what the node agent needs, nothing else.
struct TrafficPod {
  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  Uid jobUid;           // of the controlling TrainingJob; empty: no member
  std::string jobName;  // for messages
  std::string role;
  base::WallTime created{};
  std::optional<base::WallTime> started = std::nullopt;
  bool finished = false;
  bool hostNetwork = false;
  std::vector<std::string> addresses;  // status.podIPs
  std::vector<int> ports;              // that its containers declare
  TrafficOrder order;
};

}  // namespace trainyard::model
