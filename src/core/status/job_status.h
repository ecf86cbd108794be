#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gang/outcome.h"
#include "core/ledger/members.h"
#include "core/lifecycle/life_signs.h"
#include "model/job.h"

namespace trainyard::core {

// Whether a failed gang restarts, and whether the restart counts.
enum class RestartKind { kNone, kCounted, kNotCounted };

// The part of a job's status that is new in this cycle; the rest is derived from the record and the pods.
struct StatusUpdate {
  std::optional<model::Pending> pending = std::nullopt;  // set while the job is pending or refused
  bool admitted = true;                                  // false: pending has the reason
  bool admissionKnown = true;  // false: its templates are being checked, and Admitted keeps its value
  bool suspended = false;      // pending may only have the reason why it is not admitted
  std::optional<model::ObjectKey> preemptedBy = std::nullopt;  // the preemptor
  bool preemptedByOtherQueue = false;
  Verdict verdict = {};
  std::optional<model::LastFailure> failure = std::nullopt;  // its cause was found in this cycle
  RestartKind restarts = RestartKind::kNone;
  std::optional<int> lossesInARow = std::nullopt;  // updated in the same write
  bool membersFailed = false;      // it restarts because members failed, not because they were lost
  const LifeSign* life = nullptr;  // new evidence from its logs
  std::string where = {};          // "4 nodes in rack zone-a/block-1/rack-3", for a placed gang
};

// The update of a job without pods that the user has suspended, or that Kueue holds.
[[nodiscard]] StatusUpdate holdUpdate(const model::Job& job);

// Derives the status for people: counts, phase, conditions. `record` is the gang record of the same write;
// `members` are those of the placed gang, else of the proposal, else empty.
[[nodiscard]] model::JobStatus deriveStatus(const model::Job& job, model::GangRecord record,
                                            const std::vector<Member>& members, const StatusUpdate& update,
                                            base::WallTime now);

}  // namespace trainyard::core
