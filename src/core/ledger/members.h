#pragma once

#include <string>
#include <vector>

#include "core/ledger/pod_groups.h"
#include "model/gang.h"
#include "model/job.h"
#include "model/pod.h"

namespace trainyard::core {

// A place in the gang, with the pod that fills it if there is one.
struct Member {
  std::string role;
  int index = 0;
  model::NodeName node;             // assigned
  const model::Pod* pod = nullptr;  // of this job and epoch; nullptr while missing
  std::int64_t epoch = 0;
  bool succeeded = false;  // has ended well, whether or not its pod is still there
  bool failed = false;     // its program ended with an error, or its node ended it
};

// How a member has ended: as its pod; or, while containers that admission added to the pod still run, as
// those of its template, once all of them have.
enum class MemberEnd { kNone, kSucceeded, kFailed };
[[nodiscard]] MemberEnd endOf(const model::Pod& pod, const model::Role* role);

// Whether the pod's name is that of the member which its labels claim it to be. Labels can be written by
// anybody and be the same on many pods; a name can be had by one pod only.
[[nodiscard]] bool namedAsMember(const model::Pod& pod, const model::Job& job);

// Whether a record has, or once had, a place for the pod: by its name, of an epoch that the job has reached.
// Everything else that names the job as its owner says so by itself.
[[nodiscard]] bool wasMember(const model::Pod& pod, const model::Job& job);
// That the record has reached.
[[nodiscard]] std::int64_t newestEpoch(const model::GangRecord& gang);

// Every member that `record` says is placed, each with the pod of its name, owner and epoch.
[[nodiscard]] std::vector<Member> placedMembers(const model::Job& job, const model::Placed& placed,
                                                const JobPods& pods);
// Every member that the proposal adds.
[[nodiscard]] std::vector<Member> addedMembers(const model::Job& job, const model::Proposal& proposal,
                                               const JobPods& pods);
// The placed members that the proposal takes away.
[[nodiscard]] std::vector<Member> removedMembers(const model::Job& job, const model::Proposal& proposal,
                                                 const JobPods& pods);

// Whether the pod belonged to a TrainingJob of the same name that is gone.
[[nodiscard]] bool isOfFormerJob(const model::Pod& pod, const model::Job& job);

// Pods of the job that no record names: of an older epoch, or created late by a leader that had lost its
// lease.
[[nodiscard]] std::vector<const model::Pod*> strayPods(const model::Job& job, const JobPods& pods);

}  // namespace trainyard::core
