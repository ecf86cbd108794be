#pragma once

#include <optional>
#include <string>

#include "core/gang/action.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

struct Admission {
  // Why the job cannot be used as it is; reason out of the not-admitted part of PendingReason.
  std::optional<model::Pending> refusal = std::nullopt;
  // Nothing is wrong so far, but the templates have not been checked against the API yet.
  bool needsTemplateCheck = false;
};

// Whether a job may wait for places: what neither the schema nor its CEL rules can see. Depends on nothing
// but the job, queues (not what they hold), priority classes, namespaces, the policy's topology and, at last,
// admitTemplate().
[[nodiscard]] Admission admit(const model::Job& job, const model::Snapshot& snapshot, const QueueTree& queues,
                              const JobFeedback& feedback);

// The part of it that does not depend on the job's size, which a plan may yet choose: whether it may use
// this queue and this priority class at all.
[[nodiscard]] std::optional<model::Pending> refuseUse(const model::Job& job, const model::Snapshot& snapshot,
                                                      const QueueTree& queues);

// Whether a gang that has its places may get new pods by its spec as it is now, at a restart or to grow. Not
// where it was edited while its pods were still ending: what it is now nobody has admitted, to a queue that
// may not even be open to it. Nor with a PriorityClass that was written while it ran and that its queue does
// not allow; the one that it is charged as it keeps, whatever its queue allows by now.
[[nodiscard]] bool mayGetNewPods(const model::Job& job, const model::Snapshot& snapshot,
                                 const QueueTree& queues);

// What the templates' check has to say; nothing when they are fine.
[[nodiscard]] std::optional<Admission> admitTemplate(const JobFeedback& feedback);

// What that check had to say before, by the job's status; nothing when it found nothing, or is still to come.
[[nodiscard]] std::optional<std::string> refusalOfTemplate(const model::Job& job);

}  // namespace trainyard::core
