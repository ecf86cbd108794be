#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cycle/cycle_context.h"
#include "core/ledger/members.h"
#include "core/status/job_status.h"

namespace trainyard::core {

// The plan's decisions on jobs: the status that each gets, with its Events and actions.
class JobDecisions {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  explicit JobDecisions(CycleContext& context) : in_(context) {}

  JobDecision& add(const JobPtr& job);
  // Adds the status that follows from this record and its members.
  JobDecision& derive(const JobPtr& job, model::GangRecord record, const StatusUpdate& update);
  JobDecision& write(const JobPtr& job, model::GangRecord record, std::vector<JobEvent> events,
                     const StatusUpdate& update);
  // Another decision replaces those on the job. Returns false, and changes nothing, if its last write is
  // still under way.
  [[nodiscard]] bool replace(const JobPtr& job);
  // Leaves out decisions that change nothing.
  void dropEmpty();

  // Where the record places the gang: "4 nodes in rack r1".
  [[nodiscard]] std::string placementText(const model::GangRecord& record) const;

 private:
  void recordTypes(model::GangRecord& record) const;
  [[nodiscard]] std::vector<Member> membersOf(const model::Job& job, const model::GangRecord& record) const;
  void setChargedCondition(const model::Job& job, model::JobStatus& status) const;

  CycleContext& in_;
};

}  // namespace trainyard::core
