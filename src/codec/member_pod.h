#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/constraints.h"
#include "model/environment.h"
#include "model/job.h"
#include "model/policy.h"

namespace trainyard::codec {

struct MemberContext {
  std::int64_t epoch = 0;
  bool gated = true;                                     // has Trainyard's gate until it is released
  std::optional<model::NodeName> pinned = std::nullopt;  // bound to this node at creation: single-pod job
  std::string schedulerName = {};                        // the scheduler that binds it; empty: the default
  // Added to every container; a variable of the template takes precedence (codec/container_env.h).
  model::Environment environment = {};
  const model::Preflight* preflight = nullptr;  // a check that runs first on its node; null: none
  std::string launcherImage = {};               // of trainyard-launch, for checkpoint.mode Launcher
};

// Encodes the pod of one member: the role's template with name, labels, owner, gate, host name and
// environment. With a checkpoint on SIGTERM, it has at least the checkpoint's grace period. A job that
// launches over ssh adds codec/ssh_pod.h; a job of varying size, or one started by trainyard-launch, adds
// codec/elastic_pod.h. kInvalid if the template is not a JSON object with a spec, which cannot happen for a
// decoded job without specError, or if trainyard-launch finds no command.
[[nodiscard]] base::Result<std::string> encodeMemberPod(const model::Job& job, const model::Role& role,
                                                        int index, const MemberContext& context);

// Returns true for a member of a pod's spec that encodeMemberPod() writes itself, whatever the template has.
[[nodiscard]] bool isWrittenByOperator(std::string_view specMember);

}  // namespace trainyard::codec
