#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/gang/action.h"
#include "core/gang/settings.h"
#include "core/ledger/ledger.h"
#include "core/ledger/members.h"
#include "model/job.h"

namespace trainyard::core {

// The gang protocol (docs/protocol.md), one step at a time, as a pure function of the API's objects.
//
// Assumes: status.gang is the only commit record (for a single-pod job its pod, until that is bound and
// recorded). Pods are created gated (of single-pod jobs: pinned) and released only after a final check of
// every place. A successor can observe everything that was done before.
//
// Steps of a proposal {take `remove` away, add `add`}, of any kind:
//  Claiming   with victims: create the members, gated, as below, and check every place as the barrier will
//             after the victims have gone. Only then delete the victims, and the pods of `remove`. After all
//             of them have gone, the record becomes Reserved
//  Reserved   create the missing members; if there are several, the Service and ConfigMap first
//  barrier    all exist: every place is checked with the requests of the created pods; then all are released
//  Releasing  inferred from the first released pod; releases the pods that are still gated. It is recorded
//             for a Grow only (core/gang/gang_resize.h)
//  merge      all bound: `placed` becomes `placed` less `remove` plus `add`; after that nothing aborts
//  Aborting   before merge, on deadline, lost place, refused creation, edited spec, suspension or deletion:
//             delete the proposal's pods by uid, keep the places until these are gone, then back off
//
// A step either changes the record (written alone, guarded by
// resourceVersion) or acts on the record as written.
struct GangStep {
  std::optional<model::GangRecord> record = std::nullopt;
  std::vector<Action> actions = {};
  std::vector<JobEvent> events = {};
  // When to step again even if nothing has changed.
  std::optional<base::WallTime> wakeAt = std::nullopt;
  // The claim stands: its victims are being evicted.
  bool evicts = false;
};

struct GangContext {
  base::WallTime now{};
  const Settings* settings = nullptr;
  const Ledger* ledger = nullptr;
  const JobFeedback* feedback = nullptr;
  // Other jobs, to settle overlapping proposals; all pods, to see whether the victims are gone.
  const model::SharedList<model::Job>* jobs = nullptr;
  const model::SharedList<model::Pod>* pods = nullptr;
  // The feedback of each job that has any.
  const std::map<model::ObjectKey, JobFeedback>* others = nullptr;
};

// Returns the next step of a job that has a proposal.
[[nodiscard]] GangStep stepProposal(const model::Job& job, const JobPods& pods, const GangContext& context);

}  // namespace trainyard::core
