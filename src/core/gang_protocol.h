#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/action.h"
#include "core/ledger.h"
#include "core/members.h"
#include "core/settings.h"
#include "model/job.h"

namespace trainyard::core {

// The gang protocol (docs/protocol.md), one step at a time, as a pure function of what the API shows.
//
// Assumes: status.gang is the only commit record; pods are born gated (a gang of one: pinned) and released only
// after every place was checked once more; whatever was done before can be seen again by a successor.
//
// Steps of a Start proposal:
//  Reserved   make the missing members: the Service and ConfigMap first where there are several
//  barrier    when all exist: every place is checked with the requests of the created pods; then all are released
//  Releasing  inferred from the first released pod, never written; re-releases what is still gated
//  merge      all bound: the proposal becomes `placed`; after that nothing aborts
//  Aborting   before that, on deadline, lost node, refused creation, edited spec, suspension or deletion:
//             delete the proposal's pods by uid, keep the places until they are seen gone, then back off
//
// A step either changes the record (written alone, guarded by resourceVersion) or acts on the record as written.
struct GangStep {
  std::optional<model::GangRecord> record = std::nullopt;
  std::vector<Action> actions = {};
  std::vector<JobEvent> events = {};
  // When to look again though nothing changed.
  std::optional<base::WallTime> wakeAt = std::nullopt;
};

struct GangContext {
  base::WallTime now{};
  const Settings* settings = nullptr;
  const Ledger* ledger = nullptr;
  const JobFeedback* feedback = nullptr;
  // Other jobs, to settle overlapping proposals.
  const std::vector<std::shared_ptr<const model::Job>>* jobs = nullptr;
};

// The next step of a job that has a proposal.
[[nodiscard]] GangStep stepProposal(const model::Job& job, const JobPods& pods, const GangContext& context);

// A Start proposal for the planned assignments, to be written as the commit point.
[[nodiscard]] model::GangRecord proposeStart(const model::Job& job, std::vector<model::Assignment> assignments,
                                             std::int64_t term, base::WallTime now, const Settings& settings);

// The record after the proposal was turned to Aborting; `avoid` are nodes that the next plan leaves out.
[[nodiscard]] model::GangRecord abortProposal(const model::Job& job, std::string reason,
                                              std::vector<model::NodeName> avoid, base::WallTime now,
                                              const Settings& settings);

}  // namespace trainyard::core
