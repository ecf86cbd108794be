#pragma once

#include <optional>
#include <string>

#include "core/gang/action.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

struct Admission {
  // The reason and message if the job is not admitted: a reason from the not-admitted part of PendingReason.
  std::optional<model::Pending> refusal = std::nullopt;
  // No other check failed, but the API server has not checked the pod templates yet.
  bool needsTemplateCheck = false;
};

// Decides whether a job may become pending, by rules that neither the schema nor its CEL rules can express.
// The result depends only on the job, the queues (not their usage), priority classes, namespaces, the policy
// and, at last, admitTemplate().
[[nodiscard]] Admission admit(const model::Job& job, const model::Snapshot& snapshot, const QueueTree& queues,
                              const JobFeedback& feedback);

// The part of admit() that does not depend on the job's size, which a plan may still choose. It checks the
// spec, the topology levels, the queue and the priority class.
[[nodiscard]] std::optional<model::Pending> refuseUse(const model::Job& job, const model::Snapshot& snapshot,
                                                      const QueueTree& queues);

// Returns true if a gang with a placement may get new pods from its present spec, at a restart or to grow. It
// may not if the gang was edited after its placement. The new spec has not been admitted, and its queue may
// not be open to the job. It may not if a PriorityClass was set meanwhile that the queue does not allow. The
// class that the gang is charged with stays valid, even if its queue no longer allows it.
[[nodiscard]] bool mayGetNewPods(const model::Job& job, const model::Snapshot& snapshot,
                                 const QueueTree& queues);

// Returns the result of the templates' check; nothing if the templates are valid.
[[nodiscard]] std::optional<Admission> admitTemplate(const JobFeedback& feedback);

// Returns the message of that check from the job's status; nothing if it found no error or is still to come.
[[nodiscard]] std::optional<std::string> refusalOfTemplate(const model::Job& job);

}  // namespace trainyard::core
