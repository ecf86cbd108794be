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

// The gang protocol (docs/protocol.md), one step at a time, as a pure function of what the API shows.
//
// Assumes: status.gang is the only commit record (of a gang of one its pod, until that is bound and
// written); pods are born gated (a gang of one: pinned) and released only after every place was checked once
// more; whatever was done before can be seen again by a successor.
//
// Steps of a proposal {take `remove` away, add `add`}, whatever its kind:
//  Claiming   with victims: make the members, gated, as below, and check every place as the barrier will when
//             the victims are gone; only then delete the victims, and the pods of `remove`. When all of them
//             are gone, the record says Reserved
//  Reserved   make the missing members: the Service and ConfigMap first where there are several
//  barrier    when all exist: every place is checked with the requests of the created pods; then all go
//  Releasing  inferred from the first released pod; re-releases what is still gated. Written of a Grow
//             alone (core/gang/gang_resize.h)
//  merge      all bound: `placed` becomes what it was, less `remove`, plus `add`; after that nothing aborts
//  Aborting   before that, on deadline, lost place, refused creation, edited spec, suspension or deletion:
//             delete the proposal's pods by uid, keep the places until they are seen gone, then back off
//
// A step either changes the record (written alone, guarded by resourceVersion) or acts on the record as
// written.
struct GangStep {
  std::optional<model::GangRecord> record = std::nullopt;
  std::vector<Action> actions = {};
  std::vector<JobEvent> events = {};
  // When to look again though nothing changed.
  std::optional<base::WallTime> wakeAt = std::nullopt;
  // The claim stands: whoever it names is to go.
  bool evicts = false;
};

struct GangContext {
  base::WallTime now{};
  const Settings* settings = nullptr;
  const Ledger* ledger = nullptr;
  const JobFeedback* feedback = nullptr;
  // Other jobs, to settle overlapping proposals; all pods, to see whether victims are gone.
  const model::SharedList<model::Job>* jobs = nullptr;
  const model::SharedList<model::Pod>* pods = nullptr;
  // What is known of each job besides, as far as anything is.
  const std::map<model::ObjectKey, JobFeedback>* others = nullptr;
};

// The next step of a job that has a proposal.
[[nodiscard]] GangStep stepProposal(const model::Job& job, const JobPods& pods, const GangContext& context);

}  // namespace trainyard::core
