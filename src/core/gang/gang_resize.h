#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gang/gang_proposals.h"
#include "core/gang/gang_protocol.h"

// How a gang gets another size. Who decides which is somebody else; here it comes true, or nothing changes.
namespace trainyard::core {

// Of the elastic role, by the record.
struct Resize {
  std::string role;
  int from = 0;
  int to = 0;
  bool anew = false;  // by a restart
  friend bool operator==(const Resize&, const Resize&) = default;
};

// The resize that the record's proposal is; nothing without one, nor while it waits for the claim that it
// makes room for. Of one that is being given up, what it would have been.
[[nodiscard]] std::optional<Resize> resizeUnderWay(const model::JobSpec& spec,
                                                   const model::GangRecord& record);

// "grows from 2 to 4 members of role worker", "shrinks …".
[[nodiscard]] std::string describeResize(const Resize& resize);

// The record with a resize begun: `add` are the places of the members that come, from the present size on;
// `remove` those of the members that leave, the last ones. Restarts where the job cannot go on. `claimant`:
// for whose claim it shrinks; then it runs on until that claim stands (beginShrink()) or is gone
// (withdrawMove()).
[[nodiscard]] model::GangRecord proposeGrow(const model::Job& job, std::vector<model::Assignment> add,
                                            const Author& author);
[[nodiscard]] model::GangRecord proposeShrink(const model::Job& job, std::vector<model::Assignment> remove,
                                              const std::optional<model::ObjectKey>& claimant,
                                              const Author& author);
[[nodiscard]] model::GangRecord beginShrink(const model::Job& job, const Author& author);

// How long members that are told to leave have for it, before they are deleted.
[[nodiscard]] std::chrono::seconds timeToLeave(const model::JobSpec& spec, const Settings& settings);

// The steps of a live resize; docs/protocol.md has them as a table.
//
// Grow: as a Start of the members that come. Given up, without harm, as long as not all are bound; also where
// the gang that it joins has ended, failed or lost a member. Then the record says Releasing: nothing aborts
// any more, since those that run are told. When all are told: merge. (Lost: to tell them before, and to take
// it back. A member that has read the new size may act on it at once.)
//
// Shrink: never given up. All are told; whoever leaves is deleted once it has ended, or its time is over;
// when all are gone: merge. Where the gang ends, fails or is stopped meanwhile: merge at once, and what is
// left of the leaving are strays.
//
// What stepGrow() does not decide goes the way of every proposal.
[[nodiscard]] std::optional<GangStep> stepGrow(const model::Job& job, const std::vector<Member>& joining,
                                               const JobPods& pods, const GangContext& context);
// Before lost members are replaced: those that stay are told first, so that whoever counts generations (for
// ports: launch/member_environment.h) agrees with those that come, and whoever missed a former word has it.
[[nodiscard]] GangStep tellWhoStays(const model::Job& job, const JobPods& pods, const GangContext& context);
[[nodiscard]] GangStep stepShrink(const model::Job& job, const JobPods& pods, const GangContext& context);

// Where the step ends a resize, well or not: what is told of it.
[[nodiscard]] std::optional<JobEvent> resizeEnded(const model::Job& job, const model::GangRecord& after);

}  // namespace trainyard::core
