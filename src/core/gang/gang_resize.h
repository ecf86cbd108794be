#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gang/gang_proposals.h"
#include "core/gang/gang_protocol.h"

// How a gang changes its size. core/resize decides the size; here the resize completes, or nothing changes.
namespace trainyard::core {

// A change of the elastic role's size, by the record.
struct Resize {
  std::string role;
  int from = 0;
  int to = 0;
  bool byRestart = false;  // by a restart
  friend bool operator==(const Resize&, const Resize&) = default;
};

// The resize that the record's proposal makes. Empty without one, and while it waits for the claim that it
// shrinks for. If it is being aborted, the resize that it would have made.
[[nodiscard]] std::optional<Resize> resizeUnderWay(const model::JobSpec& spec,
                                                   const model::GangRecord& record);

// "grows from 2 to 4 members of role worker", "shrinks …".
[[nodiscard]] std::string describeResize(const Resize& resize);

// The record with a resize begun. `add`: the places of the joining members, from the present
// size on; `remove`: those of the leaving members, the last ones. It is a Restart if the job
// cannot go on. `preemptor`: the job that it shrinks for; the gang then runs on until that claim
// stands (beginShrink()) or is gone (withdrawMove()).
[[nodiscard]] model::GangRecord proposeGrow(const model::Job& job, std::vector<model::Assignment> add,
                                            const Author& author);
[[nodiscard]] model::GangRecord proposeShrink(const model::Job& job, std::vector<model::Assignment> remove,
                                              const std::optional<model::ObjectKey>& preemptor,
                                              const Author& author);
[[nodiscard]] model::GangRecord beginShrink(const model::Job& job, const Author& author);

// The time that notified members have to leave before they are deleted.
[[nodiscard]] std::chrono::seconds timeToLeave(const model::JobSpec& spec, const Settings& settings);

// The steps of a live resize; docs/protocol.md lists them in a table.
//
// Grow: as a Start of the joining members. It aborts, without harm, while not all are bound; also if the gang
// has ended, failed or lost a member. Then the phase is Releasing: nothing aborts any more, because the
// running members are notified. When all are notified: merge. (Rejected: to notify them before, and to revert
// it. A member that has read the new size may act on it at once.)
//
// Shrink: never aborts. All are notified; a leaving member is deleted once it has ended, or its time is
// over; when all are gone: merge. If the gang ends, fails or is stopped meanwhile: merge at once, and
// the remaining pods of leaving members are strays.
//
// If stepGrow() returns nothing, the common steps of proposals apply.
[[nodiscard]] std::optional<GangStep> stepGrow(const model::Job& job, const std::vector<Member>& joining,
                                               const JobPods& pods, const GangContext& context);
// Notifies the staying members before lost ones are replaced. All members then agree on the generation (ports
// depend on it: launch/member_environment.h), also those that missed an earlier notification.
[[nodiscard]] GangStep notifyStayingMembers(const model::Job& job, const JobPods& pods,
                                            const GangContext& context);
[[nodiscard]] GangStep stepShrink(const model::Job& job, const JobPods& pods, const GangContext& context);

// The event if the step ends a resize, successfully or not.
[[nodiscard]] std::optional<JobEvent> resizeEnded(const model::Job& job, const model::GangRecord& after);

}  // namespace trainyard::core
