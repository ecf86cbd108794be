#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/place/place.h"
#include "model/gang.h"
#include "model/job.h"

namespace trainyard::core {

// What a plan does to the placement of one gang.
enum class ChangeKind {
  kStart,
  kPreempt,  // the whole gang is preempted and becomes pending again
  kMove,     // it is preempted, and restarts elsewhere
  kGrow,     // members join
  kShrink,   // the last members leave
};

struct Change {
  std::shared_ptr<const model::Job> job;
  ChangeKind kind = ChangeKind::kStart;
  Placement add = {};                          // the placement that it gets
  std::vector<model::Assignment> remove = {};  // the placement that it gives up
  // The job that starts on what this releases; absent if the change is for its own job.
  std::optional<model::ObjectKey> preemptor = std::nullopt;
  // kPreempt: on behalf of a job of another queue.
  bool byOtherQueue = false;
  // kStart: the reservations on which it was backfilled.
  std::vector<model::Charge::Backfill> backfilled = {};
  // kStart: members that terminate already, for whose capacity it waits.
  std::vector<model::Victim> awaited = {};
  bool silent = false;  // counted, but the operator cannot write the job's status now
};

}  // namespace trainyard::core
