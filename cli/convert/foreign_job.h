#pragma once

#include <string>

namespace trainyard::cli {

// The facts about an object that `convert` needs before it reads all of it.
struct ForeignJob {
  std::string kind;
  std::string group;   // empty: the core API group
  bool known = false;  // `convert` makes a TrainingJob of it
};
[[nodiscard]] ForeignJob foreignJob(const std::string& json);

// Returns true for objects beside jobs that stay unchanged. These are kinds of Kubernetes' own API groups
// (without a dot, or ending with k8s.io), and kinds that are not jobs by their name. A RayCluster or a
// LeaderWorkerSet is a job: it is left out, with a note.
[[nodiscard]] bool staysAsItIs(const std::string& json);

// Returns how an unchanged object depends on a system that is being left: a queue of Kueue, or
// Volcano's scheduler. Empty for all other objects.
[[nodiscard]] std::string heldByOthers(const std::string& json);

// Returns a line about a job that could be converted but has ended or is being deleted: its conversion
// would restart it. Empty for all other objects.
[[nodiscard]] std::string whyLeftOut(const std::string& json);
// The same for an object of any kind.
[[nodiscard]] std::string whyOver(const std::string& json);

}  // namespace trainyard::cli
