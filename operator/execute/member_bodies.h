#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"
#include "core/gang/framework_env.h"
#include "model/job.h"
#include "model/policy.h"

namespace trainyard::operator_ {

// The API server names "spec.containers…"; in the job that is below spec.roles[…].template.
[[nodiscard]] std::string templateComplaint(const std::string& role, const base::Error& error);

// Lower bound of a body's size: the template and the environment that many members share.
[[nodiscard]] std::size_t bodyBytes(const model::Role& role, const core::MemberEnvironments& environments);

// The node check that the cluster's policy has for jobs that request one.
class PreflightOffer {
 public:
  // Without an image there is none.
  void set(const model::Preflight& preflight) { preflight_ = preflight; }
  // Null if the job requests none, or the cluster has none.
  [[nodiscard]] const model::Preflight* of(const model::Job& job) const {
    return job.spec.health.preflight && !preflight_.image.empty() ? &preflight_ : nullptr;
  }

 private:
  model::Preflight preflight_;
};

}  // namespace trainyard::operator_
