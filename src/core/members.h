#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/gang.h"
#include "model/job.h"
#include "model/pod.h"

namespace trainyard::core {

// A place in the gang, with the pod that fills it if there is one.
struct Member {
  std::string role;
  int index = 0;
  model::NodeName node;              // assigned
  const model::Pod* pod = nullptr;   // of this job and epoch; nullptr while missing
};

using JobPods = std::vector<std::shared_ptr<const model::Pod>>;

// Every member of `assignments`, matched by name, owner and epoch.
[[nodiscard]] std::vector<Member> matchMembers(const model::Job& job, const std::vector<model::Assignment>& assignments,
                                               std::int64_t epoch, const JobPods& pods);

// Pods of the job that no record names: of an older epoch, or created late by a leader that had lost its lease.
[[nodiscard]] std::vector<const model::Pod*> strayPods(const model::Job& job, const JobPods& pods);

// Pods by the uid of the TrainingJob that controls them.
[[nodiscard]] std::unordered_map<model::Uid, JobPods> groupByJob(
    const std::vector<std::shared_ptr<const model::Pod>>& pods);

}  // namespace trainyard::core
