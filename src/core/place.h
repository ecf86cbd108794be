#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ledger.h"
#include "model/gang.h"
#include "model/job.h"
#include "model/reasons.h"

namespace trainyard::core {

struct PlaceRequest {
  const model::Job* job = nullptr;
  // Members to place: role, index, in the order of roles and indices; usually the whole gang.
  struct Group {
    const model::Role* role = nullptr;
    model::IndexSet indices;
  };
  std::vector<Group> groups;
  std::vector<model::NodeName> avoidNodes;
};

struct Placement {
  std::vector<model::Assignment> assignments;  // sorted by role order, then lowest index
  std::string level;                           // tightest level that holds the whole gang: "rack"; "" for none
  std::string domain;                          // its path: "zone-a/block-1/rack-3"
};

// Why nothing fits, with the numbers that a user needs.
struct Misfit {
  model::PendingReason reason = model::PendingReason::kWaitingForCapacity;
  std::string message;    // one sentence: "needs 4 nodes with 8 nvidia.com/gpu free in one rack; best rack … has 3"
  std::optional<model::Shortfall> shortfall = std::nullopt;
};

// Assumes: a gang is useless below its whole size; a tighter domain is faster for it; a busier domain that still
// fits is the better one, as it leaves the emptier whole.
// Steps: 1 keep the nodes that every role's shape may use; 2 from the tightest level up to the required one,
// list the domains that hold the whole gang; 3 take the one with the least free GPUs after it; 4 inside, fill the
// fullest nodes first and keep neighbours in rank on neighbouring nodes. Ties: domain path, then node name.
[[nodiscard]] std::variant<Placement, Misfit> place(const PlaceRequest& request, const Ledger& ledger,
                                                    const std::vector<model::TopologyLevel>& topology);

}  // namespace trainyard::core
