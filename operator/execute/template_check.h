#pragma once

#include <cstddef>
#include <string>

#include "operator/body_window.h"
#include "operator/execute/decisions_under_way.h"
#include "operator/execute/member_bodies.h"
#include "operator/template_checks.h"

namespace trainyard::operator_ {

// CheckTemplates: dry-runs of one pod of each role, and a look for the ResourceClaims that they name. The API
// server accepts pods with missing ones, and kube-scheduler then never binds them.
class TemplateCheck {
 public:
  TemplateCheck(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps, BodyWindow& bodies,
                TemplateChecks& checks, const PreflightOffer& preflight)
      : deps_(dependencies), steps_(steps), bodies_(bodies), checks_(checks), preflight_(preflight) {}

  void run(const StepPtr& step);

 private:
  void checkTemplate(const StepPtr& step, const model::Role& role, std::size_t bytes);
  void templateAnswered(const StepPtr& step, const std::string& role, const Answer& answer);
  void concludeTemplates(const StepPtr& step);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
  BodyWindow& bodies_;
  TemplateChecks& checks_;
  const PreflightOffer& preflight_;
};

}  // namespace trainyard::operator_
