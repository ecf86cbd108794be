#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "agent/tc_state.h"
#include "core/network/bands.h"

namespace trainyard::agent {

// A job with parameter servers on this node, and the flows that identify its packets.
struct JobTraffic {
  std::string uid;
  std::vector<FlowKey> flows;
  friend bool operator==(const JobTraffic&, const JobTraffic&) = default;
};

// How the link is divided between ordered and other traffic.
struct LinkSettings {
  std::uint64_t bytesPerSecond = 0;
  // Guaranteed to traffic that is not ordered: kubelet, other pods, answers of workers.
  int othersPermille = 200;
};

// Returns the class of each job, in the order of `jobs`. A restarted agent keeps the classes that existing
// filters lead to. Other jobs get the first free class, never one that still exists.
[[nodiscard]] std::vector<std::uint16_t> classesFor(const std::vector<JobTraffic>& jobs,
                                                    const FoundLink& found);

// Returns what the device should have for these jobs in these bands; nothing if there are no jobs.
[[nodiscard]] WantedLink wantedLink(const std::vector<JobTraffic>& jobs, const core::BandPlan& bands,
                                    const FoundLink& found, const LinkSettings& settings);

struct AddQdisc {
  friend bool operator==(const AddQdisc&, const AddQdisc&) = default;
};
struct RemoveQdisc {
  friend bool operator==(const RemoveQdisc&, const RemoveQdisc&) = default;
};
// Adds a class, or changes it in place.
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
// Directs a filter to another class in place.
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
  std::vector<TcChange> changes;  // to be applied in this order
  bool foreign = false;           // the device has a qdisc of another program: nothing is changed
  bool waiting = false;           // a queue must drain first: ask again soon
};

// Returns the changes from `found` to `wanted`, in place. A class or qdisc with queued packets is not
// removed: it loses its filters and drains. Classes that another program added below our qdisc are removed.
// Once the changes are applied, a second call returns none (unless `waiting`).
[[nodiscard]] TcChanges planChanges(const WantedLink& wanted, const FoundLink& found);

// Returns text for logs, such as "class 7472:10 band 3".
[[nodiscard]] std::string describe(const TcChange& change);

}  // namespace trainyard::agent
