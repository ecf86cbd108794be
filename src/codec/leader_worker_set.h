#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "codec/field.h"
#include "codec/gang_of_pods.h"

namespace trainyard::codec {

// A pod's position in a LeaderWorkerSet. Each of the set's groups, a leader and its workers, is a gang.
struct GroupMember {
  std::string set;
  int group = 0;   // of the set
  int worker = 0;  // of the group; 0 is its leader

  [[nodiscard]] std::string role() const { return worker == 0 ? "leader" : "worker"; }
  [[nodiscard]] int rank() const { return worker == 0 ? 0 : worker - 1; }  // in its role
};

// Reads it from the labels that the controller of LeaderWorkerSets gives to its pods; nothing of other pods.
[[nodiscard]] std::optional<GroupMember> readGroupMember(const Field& podMetadata);

// The roles of each group of a LeaderWorkerSet, with the pod templates as pods. Workers may be created only
// after their leader runs, so that they cannot be counted (spec.startupPolicy LeaderReady).
// kInvalid names the field that cannot be read.
[[nodiscard]] base::Result<std::vector<RoleOfPods>> rolesOfLeaderWorkerSet(std::string_view set);

}  // namespace trainyard::codec
