#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "agent/tc_state.h"
#include "core/network/bands.h"

namespace trainyard::agent {

// A job with servers on this node, and how their packets are known.
struct JobTraffic {
  std::string uid;
  std::vector<FlowKey> flows;
  friend bool operator==(const JobTraffic&, const JobTraffic&) = default;
};

// How the link is divided, apart from the order.
struct LinkSettings {
  std::uint64_t bytesPerSecond = 0;
  // For certain, to traffic that nobody orders: kubelet, other pods, answers of workers.
  int othersPermille = 200;
};

// The class of each job, in the order of `jobs`. The one that its filters already lead to, so that an agent
// which starts anew goes on with what it finds; else the first free one, never one that still exists.
[[nodiscard]] std::vector<std::uint16_t> classesFor(const std::vector<JobTraffic>& jobs,
                                                    const FoundLink& found);

// What the device should have for these jobs in these bands. Without jobs: nothing.
[[nodiscard]] WantedLink wantedLink(const std::vector<JobTraffic>& jobs, const core::BandPlan& bands,
                                    const FoundLink& found, const LinkSettings& settings);

struct AddQdisc {
  friend bool operator==(const AddQdisc&, const AddQdisc&) = default;
};
struct RemoveQdisc {
  friend bool operator==(const RemoveQdisc&, const RemoveQdisc&) = default;
};
// Made, or changed in place.
struct SetClass {
  TcClass shape;
  bool exists = false;
  friend bool operator==(const SetClass&, const SetClass&) = default;
};
struct RemoveClass {
  std::uint16_t minor = 0;
  friend bool operator==(const RemoveClass&, const RemoveClass&) = default;
};
struct AddFilter {
  TcFilter filter;
  friend bool operator==(const AddFilter&, const AddFilter&) = default;
};
// Leads to another class in place.
struct MoveFilter {
  std::uint32_t handle = 0;
  TcFilter filter;
  friend bool operator==(const MoveFilter&, const MoveFilter&) = default;
};
struct RemoveFilter {
  std::uint32_t handle = 0;
  std::uint16_t priority = 0;
  bool v6 = false;
  friend bool operator==(const RemoveFilter&, const RemoveFilter&) = default;
};
using TcChange =
    std::variant<AddQdisc, RemoveQdisc, SetClass, RemoveClass, AddFilter, MoveFilter, RemoveFilter>;

struct TcChanges {
  std::vector<TcChange> changes;  // to be made in this order
  bool foreign = false;           // somebody else's qdisc is in the way: nothing is changed
  bool waiting = false;           // something must drain first: ask again soon
};

// From what is found to what is wanted, in place. A class whose packets wait is not removed but left to drain
// without filters, and so is the qdisc; classes of others below ours are taken away like old ones of ours.
// Applied to an unchanged kernel, a second call gives no changes (unless `waiting`).
[[nodiscard]] TcChanges planChanges(const WantedLink& wanted, const FoundLink& found);

// "class 7472:10 band 3" and the like, for logs.
[[nodiscard]] std::string describe(const TcChange& change);

}  // namespace trainyard::agent
