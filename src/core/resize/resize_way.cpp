#include "core/resize/resize_way.h"

#include <algorithm>
#include <string>

#include "model/late_members.h"
#include "model/membership.h"
#include "model/process_group.h"
#include "model/tensorflow_cluster.h"

namespace trainyard::core {
namespace {

bool isRanked(const model::JobSpec& spec, const std::string& role) {
  const auto roles = model::rankedRoles(spec);
  return std::any_of(roles.begin(), roles.end(), [&](const model::Role* each) { return each->name == role; });
}

}  // namespace

ResizeWay resizeWay(const model::JobSpec& spec) {
  if (!spec.elastic) return ResizeWay::kAnew;
  if (model::readsMembership(spec)) return ResizeWay::kTold;
  if (model::mayStartIncomplete(spec)) return ResizeWay::kFound;
  const std::string& role = spec.elastic->role;
  const bool c10d = spec.framework == model::Framework::kPyTorch && isRanked(spec, role);
  const bool sparse =
      spec.framework == model::Framework::kTensorFlow && role == "worker" && model::hasParameterServers(spec);
  return c10d || sparse ? ResizeWay::kFound : ResizeWay::kAnew;
}

}  // namespace trainyard::core
