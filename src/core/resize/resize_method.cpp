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

// Returns true if the members of the elastic role find new and lost members by themselves.
bool discovers(const model::JobSpec& spec) {
  const std::string& role = spec.elastic->role;
  switch (model::traitsOf(spec.framework).discovery) {
    case model::Discovery::kNone: return false;
    case model::Discovery::kRanked: return isRanked(spec, role);
    case model::Discovery::kWorkersOfServers: return role == "worker" && model::hasParameterServers(spec);
  }
  return false;
}

}  // namespace

ResizeMethod resizeMethod(const model::JobSpec& spec) {
  if (!spec.elastic) return ResizeMethod::kByRestart;
  if (model::readsMembership(spec)) return ResizeMethod::kNotified;
  if (model::mayStartIncomplete(spec)) return ResizeMethod::kDiscovered;
  return discovers(spec) ? ResizeMethod::kDiscovered : ResizeMethod::kByRestart;
}

}  // namespace trainyard::core
