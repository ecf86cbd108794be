#include "core/status/member_tally.h"

#include <utility>

#include "model/gang_size.h"

namespace trainyard::core {
namespace {

using model::PodPhase;

void count(const Member& member, model::RoleStatus& role, MemberTally& tally) {
  const model::Pod* pod = member.pod;
  if (member.succeeded) {
    ++tally.bound;
    ++role.succeeded;
    ++tally.succeeded;
    return;
  }
  if (pod == nullptr) return;
  tally.bound += pod->bound() ? 1 : 0;
  tally.running += pod->phase == PodPhase::kRunning ? 1 : 0;
  if (pod->phase == PodPhase::kFailed) {
    ++role.failed;
    return;
  }
  if (!pod->bound()) return;
  ++role.active;
  if (pod->ready) {
    ++role.ready;
    ++tally.ready;
  }
}

}  // namespace

MemberTally countMembers(const model::JobSpec& spec, const model::GangRecord& record,
                         const std::vector<Member>& members, std::vector<model::RoleStatus>& roles) {
  MemberTally tally;
  roles.clear();
  for (const model::Role& role : spec.roles) {
    model::RoleStatus status{role.name, model::gangMembers(spec, record, role)};
    for (const Member& member : members) {
      if (member.role == role.name) count(member, status, tally);
    }
    tally.size += status.desired;
    roles.push_back(std::move(status));
  }
  // Members of a resize that is under way do not make a running gang incomplete.
  tally.gang = members.empty() ? tally.size : static_cast<int>(members.size());
  return tally;
}

}  // namespace trainyard::core
