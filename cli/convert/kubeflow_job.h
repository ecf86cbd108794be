#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/convert/draft.h"

// Only converters include this file.
namespace trainyard::cli {

// What is particular about a kind of Kubeflow's jobs.
struct KubeflowKind {
  const char* specs;    // "tfReplicaSpecs", the map of its parts
  const char* restart;  // restartPolicy of a part that has none
  // A Job starts the launcher again, so many times without a number: policies of parts have no effect.
  std::optional<int> retries = std::nullopt;
};

// The parts of a spec that all kinds of Kubeflow's jobs have: a map of replica specs, and a run policy.
class KubeflowJob {
 public:
  KubeflowJob(const KubeflowKind& kind, Json spec, JobDraft& draft);

  // Adds a role for each of these keys of the map, in any case of letters and in this order. Notes other
  // keys, and fields of the spec that are not carried over.
  void addRoles(std::initializer_list<const char*> keys);
  // Notes the policies of the roles; `memberOnly`: the failed member alone starts again.
  void noteRestarts(bool memberOnly = false);
  // `outlives`: members may still run when the job has succeeded.
  void addRunPolicy(bool outlives);
  // Gives each member its short name, if a program names one of these roles by it: "master|worker".
  void addMemberNames(const std::string& roles);

  // The number of a container's port of this name, in the template of the last role that has one; otherwise
  // `usual`.
  [[nodiscard]] std::string portOf(const std::string& name, const std::string& usual);
  // Sets a variable in every role. It replaces one of the template, as Kubeflow's does.
  void set(const std::string& name, const std::string& value);

 private:
  void addRole(const char* key, const Json& part);
  void addRestarts(const Json& policy, const RoleDraft& role);
  void addScheduling(const Json& scheduling);

  const KubeflowKind kind_;
  const Json spec_;
  const Json run_;
  JobDraft& draft_;
  ConversionNotes& notes_;
  std::vector<std::pair<std::string, std::string>> restarts_;  // roles and their restartPolicy
};

// Returns true if a container of the template has nvidia.com/gpu in limits or requests.
[[nodiscard]] bool namesGpus(const Json& podTemplate);

}  // namespace trainyard::cli
