#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/ids.h"

namespace trainyard::codec {

// What a bare pod's annotations and labels say about its gang.
struct GangRequest {
  int size = 1;            // pods of the whole gang
  bool namesRole = false;  // the gang may have other roles
  // What says the size instead, if anything: a LeaderWorkerSet, or a PodGroup.
  std::string leaderWorkerSet = {};
  std::string podGroup = {};
};
// kInvalid names the pod and what cannot be read.
[[nodiscard]] base::Result<GangRequest> readGangRequest(std::string_view pod);

// One role of a gang of bare pods: how many pods, and one of them.
struct RoleOfPods {
  std::string role;
  int replicas = 1;
  std::string pod;  // JSON
};

// The Gang for bare pods, to be created: queue, priority and locality of the first role's pod, and of each
// pod what placing needs. kInvalid names the pod and what cannot be read.
[[nodiscard]] base::Result<std::string> encodeGangOfPods(const model::ObjectKey& gang,
                                                         const std::vector<RoleOfPods>& roles);

}  // namespace trainyard::codec
