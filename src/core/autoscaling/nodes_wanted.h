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

// Decides which jobs request nodes that do not exist yet, and tracks these requests (docs/autoscaling.md).
//
// Assumes that the last cycle recorded why the job is pending. A gang wants nodes if no node matches, if it
// is larger than all nodes together, or if too little capacity is free. A gang that can start by preempting
// others gets that capacity instead. A job that waits for its turn, a quota, a share or a closer placement
// wants none. More nodes would not help, or would not help that job.
//
// Steps: a request is made after `after` of such waiting. It ends when the job waits for another reason, or
// when it fails. It fails by its own conditions Failed, BookingExpired or CapacityRevoked, or if it is not
// Provisioned after `giveUpAfter`. It also fails if the job has no placement so long after it was. Then it is
// taken back. The next request follows after retryAfter x 2^(attempt - 1), at most a day.

// What the operator remembers of a job between two requests. It is lost with the process. The first back-off
// is then counted again from the condition.
struct NodesHistory {
  int attempts = 0;
  std::optional<base::WallTime> notBefore = std::nullopt;
};

// The content of the condition NodesRequested and of its Event.
struct NodesReport {
  bool asked = false;  // its status
  std::string reason;
  std::string message;
  bool isWarning = false;
};

enum class NodesStep {
  kNothing,
  kRequest,   // make the request `attempt`
  kWithdraw,  // the request is over: no longer wanted, or failed
};

struct NodesDecision {
  // Written before the step is taken, if the job's condition differs.
  std::optional<NodesReport> report = std::nullopt;
  NodesStep step = NodesStep::kNothing;
  int attempt = 0;
  bool failed = false;                                  // kWithdraw only
  std::optional<base::WallTime> wakeAt = std::nullopt;  // decide again then, even if nothing changes
};

// Returns true if the job waits for more nodes. `levels` are the levels of the policy.
[[nodiscard]] bool wantsNodes(const model::Job& job, const std::vector<model::TopologyLevel>& levels);

// Returns how long after the failure of attempt `attempt` the next one follows.
[[nodiscard]] std::chrono::milliseconds nodesBackoff(const model::ProvisioningPolicy& policy, int attempt);

// `request` is the job's present request; null: it has none.
[[nodiscard]] NodesDecision decideNodes(const model::Job& job, bool wants, const model::NodesRequest* request,
                                        const NodesHistory& memory, const model::ProvisioningPolicy& policy,
                                        base::WallTime now);

// Returns, by position, which jobs of `wanting` may make a request while `more` further requests may be open.
// The job in the namespace with the fewest requests (`open`, and those chosen here) comes first, then the
// oldest job. So the many jobs of one namespace delay others by at most the lifetime of a request.
[[nodiscard]] std::vector<std::size_t> selectRequesters(const std::vector<const model::Job*>& wanting,
                                                        std::map<std::string, int> open, int more);

// The condition for a request that could not even be made, in the form of other failures.
[[nodiscard]] NodesReport nodesRefused(const model::ProvisioningPolicy& policy, int attempt,
                                       const std::string& why);

}  // namespace trainyard::core
