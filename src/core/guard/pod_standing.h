#pragma once

#include "core/guard/guard.h"

namespace trainyard::core {

// What a pod is to the gangs of the guard's view.
enum class Standing {
  kForeign,
  kMember,
  kOwnRecord,  // the pod of a single-pod job without a written record
  kUnknown,    // the view is older than the pod
  kNotRecorded,
  kAborting,
};

struct PodStanding {
  Standing standing = Standing::kForeign;
  const model::Job* job = nullptr;
  const model::NodeName* node = nullptr;  // for kMember
};
[[nodiscard]] PodStanding podStandingOf(const GuardView& view, const model::Pod& pod);

}  // namespace trainyard::core
