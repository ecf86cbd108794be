#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/place/place.h"
#include "model/gang.h"
#include "model/job.h"

namespace trainyard::core {

// What a plan does to one gang's places.
enum class ChangeKind {
  kStart,
  kStop,    // the whole gang leaves and waits again
  kMove,    // it leaves, and starts anew elsewhere
  kGrow,    // more members come
  kShrink,  // the last members go
};

struct Change {
  std::shared_ptr<const model::Job> job;
  ChangeKind kind = ChangeKind::kStart;
  Placement add = {};                          // the places that it gets
  std::vector<model::Assignment> remove = {};  // the places that it leaves
  // Whose start this makes room for; absent where the change is for its own job.
  std::optional<model::ObjectKey> pays = std::nullopt;
  // kStop: for a job of another queue.
  bool byOtherQueue = false;
  // kStart: the reservations on whose capacity it was backfilled.
  std::vector<model::Charge::Backfill> backfilled = {};
  bool silent = false;  // counted, but nothing can be written for the job now
};

}  // namespace trainyard::core
