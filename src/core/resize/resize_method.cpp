#include "core/resize/resize_method.h"

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

ResizeMethod resizeMethod(const model::JobSpec& spec) {
  if (!spec.elastic) return ResizeMethod::kByRestart;
  if (model::readsMembership(spec)) return ResizeMethod::kNotified;
  if (model::mayStartIncomplete(spec)) return ResizeMethod::kDiscovered;
  const std::string& role = spec.elastic->role;
  const bool c10d = spec.framework == model::Framework::kPyTorch && isRanked(spec, role);
  const bool sparse =
      spec.framework == model::Framework::kTensorFlow && role == "worker" && model::hasParameterServers(spec);
  return c10d || sparse ? ResizeMethod::kDiscovered : ResizeMethod::kByRestart;
}

}  // namespace trainyard::core
