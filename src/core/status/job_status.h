#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gang/outcome.h"
#include "core/ledger/members.h"
#include "core/lifecycle/life_signs.h"
#include "model/job.h"

namespace trainyard::core {

// Whether a gang that failed starts anew.
enum class RestartNews { kNone, kCounted, kNotCounted };

// What of a job's status is news in this cycle; everything else is derived from the record and the pods.
struct StatusNews {
  std::optional<model::Pending> pending = std::nullopt;  // set while the job waits or is refused
  bool admitted = true;                                  // false: pending says why not
  bool admissionKnown = true;  // false: its templates are being checked, and Admitted stays as it is
  bool suspended = false;      // pending may only say why it is not admitted
  std::optional<model::ObjectKey> preemptedBy = std::nullopt;  // it has to make room for this job
  bool preemptedByOtherQueue = false;
  Verdict verdict = {};
  std::optional<model::LastFailure> failure = std::nullopt;  // it has just been found out what it failed of
  RestartNews restarts = RestartNews::kNone;
  std::optional<int> lossesInARow = std::nullopt;  // to be kept with that
  bool membersFailed = false;      // why it starts anew: by themselves, and not because they were lost
  const LifeSign* life = nullptr;  // what its logs have told, where that is news
  std::string where = {};          // "4 nodes in rack zone-a/block-1/rack-3", for a gang that has its places
};

// The status as people should read it: counts, phase, conditions. `record` is the gang record to be written
// with it; `members` are those of the placed gang, else of the proposal, else none.
[[nodiscard]] model::JobStatus deriveStatus(const model::Job& job, model::GangRecord record,
                                            const std::vector<Member>& members, const StatusNews& news,
                                            base::WallTime now);

}  // namespace trainyard::core
