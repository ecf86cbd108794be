#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "model/constraints.h"
#include "model/environment.h"
#include "model/job.h"
#include "model/policy.h"

namespace trainyard::codec {

struct MemberContext {
  std::int64_t epoch = 0;
  bool gated = true;                                     // held back by our gate until released
  std::optional<model::NodeName> pinned = std::nullopt;  // bound to this node from the start: a gang of one
  std::string schedulerName = {};  // who binds it; empty: the cluster's default scheduler
  // Given to every container; a variable that its template sets wins (codec/container_env.h).
  model::Environment environment = {};
  const model::Preflight* preflight = nullptr;  // checks its node first; null: nothing does
  std::string launcherImage = {};               // of trainyard-launch, for jobs with checkpoint.mode Launcher
};

// The pod to create for one member: the role's template with name, labels, owner, gate, host name and
// environment; with a checkpoint on SIGTERM, at least its grace period to end; of a job that launches over
// ssh what that needs (codec/ssh_pod.h); of one whose size varies what tells it of that, and trainyard-launch
// where it has that (codec/elastic_pod.h). kInvalid when the template is no JSON object with a spec (a
// decoded job without specError has none such), and where trainyard-launch does not know what to start.
[[nodiscard]] base::Result<std::string> encodeMemberPod(const model::Job& job, const model::Role& role,
                                                        int index, const MemberContext& context);

// The strategic merge patch that pins a gated pod to `node` and takes our gate away, in one write. `shape` is
// the pod's (or its template's, where nothing changes pods on their way in): the list of required terms is
// replaced whole, and a gated pod's may only be narrowed, so the node is added to each. A pod of another uid
// is refused (422). Repeating it changes nothing. With it ends the account of who wrote which field: to keep
// that through release, binding and the kubelet's words was a quarter of the API server's work for a gang's
// start, and of a pod that nobody applies it says little.
[[nodiscard]] std::string encodeReleasePatch(const model::Uid& uid, const model::PodShape& shape,
                                             const model::NodeName& node);

}  // namespace trainyard::codec
