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

// An annotation of pods with traffic that agents order: one line of JSON, codec/traffic_pod.h. It is not in
// names.h, which all programs include, because only the agent reads it.
inline constexpr std::string_view kTrafficAnnotation = "trainyard.dev/network";

// The operator's order for a job's traffic, in an annotation of its pods.
struct TrafficOrder {
  bool off = false;                                             // traffic is not ordered
  std::optional<int> band = std::nullopt;                       // absent: the agent chooses
  std::optional<base::WallTime> since = std::nullopt;           // creation time of the job
  std::optional<std::chrono::seconds> expected = std::nullopt;  // expected run time
  friend bool operator==(const TrafficOrder&, const TrafficOrder&) = default;
};

// Projection of a gang's pod: only the fields that the node agent needs.
struct TrafficPod {
  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  Uid jobUid;  // the controlling TrainingJob; empty: no member
  std::string role;
  base::WallTime created{};
  std::optional<base::WallTime> started = std::nullopt;
  bool finished = false;
  bool hostNetwork = false;
  std::vector<std::string> addresses;  // status.podIPs
  std::vector<int> ports;              // declared by its containers
  TrafficOrder order;
};

}  // namespace trainyard::model
