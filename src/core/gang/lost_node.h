#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gang/gang_protocol.h"
#include "core/ledger/members.h"

// Why an attempt to place a gang cannot succeed any more. Part of stepProposal(); not for use elsewhere.
namespace trainyard::core {

struct LostNode {
  std::string reason;
  std::vector<model::NodeName> nodes;
  // Not for lack of capacity there. Other nodes, or other victims, would not have helped, as far as is known.
  bool isUnbindable = false;
};

// A member that its node refused.
[[nodiscard]] std::optional<LostNode> findRefused(const std::vector<Member>& members);

// A released member that can no longer run on its node: the node refused it, is gone, or has been full for
// too long. Otherwise sets `wakeAt` to the time from which a node will have been full for too long.
[[nodiscard]] std::optional<LostNode> findLostNode(const std::vector<Member>& members,
                                                   const GangContext& context,
                                                   std::optional<base::WallTime>& wakeAt);

// The deadline of the attempt has passed. The nodes of released members that are not bound count as failed.
// If no member was released, no node is at fault.
[[nodiscard]] LostNode missedDeadline(const std::vector<Member>& members);

}  // namespace trainyard::core
