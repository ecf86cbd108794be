#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/pod.h"

namespace trainyard::model {

// How a container ended, or why it waits. Neither is set while it runs, or before its status is read.
struct ContainerEvidence {
  std::string name;
  bool ended = false;
  int exitCode = 0;
  int signal = 0;  // 0 unless the runtime reports it; most only set an exit code of 128 + signal
  std::string reason = {};
  std::string message = {};
  std::optional<base::WallTime> finishedAt = std::nullopt;
  std::string waitingReason = {};
  std::string waitingMessage = {};
};

struct ConditionEvidence {
  std::string type;
  bool holds = false;
  std::string reason = {};
  std::string message = {};
};

// All evidence of one member's end: its pod's status in Kubernetes, and its last log lines.
struct MemberEvidence {
  std::string role;
  int index = 0;
  std::string node = {};
  PodPhase phase = PodPhase::kUnknown;
  std::string reason = {};
  std::string message = {};
  std::vector<ConditionEvidence> conditions = {};
  std::vector<ContainerEvidence> containers = {};
  std::string log = {};
};

}  // namespace trainyard::model
