#pragma once

#include <string>
#include <vector>

#include "core/ledger/pod_groups.h"
#include "model/gang.h"
#include "model/job.h"
#include "model/pod.h"

namespace trainyard::core {

// A member of the gang by its record, with its pod if that exists.
struct Member {
  std::string role;
  int index = 0;
  model::NodeName node;             // assigned
  const model::Pod* pod = nullptr;  // of this job and epoch; nullptr if missing
  std::int64_t epoch = 0;
  bool succeeded = false;  // has ended well, whether or not its pod still exists
  bool failed = false;     // its program or its node ended it with a failure
};

// How a member has ended: as its pod; or, while containers that admission added to the pod still run, as the
// containers of its template once all of these have ended.
enum class MemberEnd { kNone, kSucceeded, kFailed };
[[nodiscard]] MemberEnd endOf(const model::Pod& pod, const model::Role* role);

// Returns true if the pod has the name of the member in its labels. Any user can write labels, and many pods
// can have equal ones; only one pod can have a name. The pods of a Gang have other names: the operator writes
// their labels when it releases them, and a policy of the chart forbids these labels to others.
[[nodiscard]] bool namedAsMember(const model::Pod& pod, const model::Job& job);

// Returns true if a record has, or once had, a member with the pod's name and epoch. Other pods that name the
// job as their owner are only claimed to be members.
[[nodiscard]] bool wasMember(const model::Pod& pod, const model::Job& job);
// The highest epoch in the record.
[[nodiscard]] std::int64_t newestEpoch(const model::GangRecord& gang);

// Returns every member that `placed` lists, each with the pod of its name, owner and epoch.
[[nodiscard]] std::vector<Member> placedMembers(const model::Job& job, const model::Placed& placed,
                                                const JobPods& pods);
// Returns every member that the proposal adds.
[[nodiscard]] std::vector<Member> addedMembers(const model::Job& job, const model::Proposal& proposal,
                                               const JobPods& pods);
// Returns the placed members that the proposal removes.
[[nodiscard]] std::vector<Member> removedMembers(const model::Job& job, const model::Proposal& proposal,
                                                 const JobPods& pods);

// Returns true if the pod belonged to a deleted TrainingJob of the same name.
[[nodiscard]] bool isOfFormerJob(const model::Pod& pod, const model::Job& job);

// Whether the pod has ended and another controller made it: it stays as that controller's record, and holds
// nothing. A gang that stops does not wait for it.
[[nodiscard]] bool isLeftToOwner(const model::Job& job, const model::Pod& pod);

// Returns the pods of the job that no record names: pods of an older epoch, or created late by a leader that
// had lost its lease.
[[nodiscard]] std::vector<const model::Pod*> strayPods(const model::Job& job, const JobPods& pods);

}  // namespace trainyard::core
