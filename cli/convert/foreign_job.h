#pragma once

#include <string>

namespace trainyard::cli {

// What `convert` has to know of an object before it reads all of it.
struct ForeignJob {
  std::string kind;
  std::string group;   // empty: of Kubernetes itself
  bool known = false;  // Volcano's Job, a PyTorchJob or a TrainJob
};
[[nodiscard]] ForeignJob foreignJob(const std::string& json);

// What a file may hold beside jobs, and what stays as it is: kinds of Kubernetes' own API groups, which have
// no dot or end with k8s.io, and others that are no jobs by their name. (A TFJob, a JobSet or a RayCluster is
// one: it is left out, with a note.)
[[nodiscard]] bool staysAsItIs(const std::string& json);

// What of an object that stays as it is belongs to a system that is to be left: a queue of Kueue's, Volcano's
// scheduler. Empty of all others.
[[nodiscard]] std::string heldByOthers(const std::string& json);

// A line about a job that could be converted but has ended, or is being deleted: it would start again. Empty
// of any other object.
[[nodiscard]] std::string whyLeftOut(const std::string& json);

}  // namespace trainyard::cli
