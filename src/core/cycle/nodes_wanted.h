#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/provisioning.h"
#include "model/topology.h"

namespace trainyard::core {

// Who wants nodes that do not exist, and what becomes of having asked for them (docs/autoscaling.md).
//
// Assumes that the last cycle has told the job why it waits. Wanted are nodes by a gang for which that was
// that no node matches, that it is larger than all of them, or that too little is free: whoever may stop
// others, and would have room by that, is given it instead of being told to wait. Nobody who waits for a
// turn, a quota, a share or a closer place wants nodes: more of them would not help, or not him.
//
// Steps: after `after` of such waiting a request is made; it ends when the job waits no longer so, or fails:
// by its own conditions Failed, BookingExpired, CapacityRevoked, or when it is not Provisioned after
// `giveUpAfter`, or the job has no place so long after it was. Then it is taken back, and the next one
// follows after retryAfter x 2^(attempt - 1), a day at most.

// What the operator remembers of a job between two requests. Lost with the process: then the first back-off
// counts anew from the condition.
struct NodesMemory {
  int attempts = 0;
  std::optional<base::WallTime> notBefore = std::nullopt;
};

// What the condition NodesRequested is to say, and the Event with it.
struct NodesWord {
  bool asked = false;  // its status
  std::string reason;
  std::string message;
  bool warns = false;
};

enum class NodesStep {
  kNothing,
  kAsk,       // make the request `attempt`
  kTakeBack,  // the request is over: no longer wanted, or failed
};

struct NodesDecision {
  // To be written, before the step is taken, where the job says something else.
  std::optional<NodesWord> word = std::nullopt;
  NodesStep step = NodesStep::kNothing;
  int attempt = 0;
  bool failed = false;                                  // of kTakeBack
  std::optional<base::WallTime> wakeAt = std::nullopt;  // look again then, though nothing changes
};

// Whether more nodes are what the job waits for. `levels` are those of the policy.
[[nodiscard]] bool wantsNodes(const model::Job& job, const std::vector<model::TopologyLevel>& levels);

// How long after attempt `attempt` has failed the next one follows.
[[nodiscard]] std::chrono::milliseconds nodesBackoff(const model::ProvisioningPolicy& policy, int attempt);

// `request` is what stands for the job now; null: nothing does.
[[nodiscard]] NodesDecision decideNodes(const model::Job& job, bool wants, const model::NodesRequest* request,
                                        const NodesMemory& memory, const model::ProvisioningPolicy& policy,
                                        base::WallTime now);

// Of those that want to ask, by position, who may where so many more requests may be open: whoever's
// namespace has the fewest of them (`open`, and those that are chosen here), then who has existed for
// longest. So nobody's many keep others from asking for longer than a request stands.
[[nodiscard]] std::vector<std::size_t> whoAsks(const std::vector<const model::Job*>& wanting,
                                               std::map<std::string, int> open, int more);

// Why a request failed where none could even be made; said as other failures are.
[[nodiscard]] NodesWord nodesRefused(const model::ProvisioningPolicy& policy, int attempt,
                                     const std::string& why);

}  // namespace trainyard::core
