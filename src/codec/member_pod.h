#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/constraints.h"
#include "model/job.h"

namespace trainyard::codec {

struct MemberContext {
  std::int64_t epoch = 0;
  bool gated = true;                                     // held back by our gate until released
  std::optional<model::NodeName> pinned = std::nullopt;  // bound to this node from the start: a gang of one
  std::string schedulerName = {};  // who binds it; empty: the cluster's default scheduler
  // Given to every container ahead of its own variables, so that those may refer to them. A variable the user
  // wrote himself wins: he knows his program. (One that he takes from envFrom does not: its names are not
  // seen here.)
  std::vector<std::pair<std::string, std::string>> environment = {};
};

// The pod to create for one member: the role's template with name, labels, owner, gate, host name and
// environment; with a checkpoint on SIGTERM, at least its grace period to end. kInvalid when the template is
// no JSON object with a spec; a decoded job without specError has none such.
[[nodiscard]] base::Result<std::string> encodeMemberPod(const model::Job& job, const model::Role& role,
                                                        int index, const MemberContext& context);

// The strategic merge patch that pins a gated pod to `node` and takes our gate away, in one write. `shape` is
// the pod's (or its template's, where nothing changes pods on their way in): the list of required terms is
// replaced whole, and a gated pod's may only be narrowed, so the node is added to each. A pod of another uid
// is refused (422). Repeating it changes nothing.
[[nodiscard]] std::string encodeReleasePatch(const model::Uid& uid, const model::PodShape& shape,
                                             const model::NodeName& node);

}  // namespace trainyard::codec
