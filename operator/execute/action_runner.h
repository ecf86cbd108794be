#pragma once

#include <vector>

#include "operator/body_window.h"
#include "operator/execute/auxiliary_objects.h"
#include "operator/execute/decisions_under_way.h"
#include "operator/execute/finalizer_patch.h"
#include "operator/execute/member_notices.h"
#include "operator/execute/member_pods.h"
#include "operator/execute/owned_pods.h"
#include "operator/execute/pod_deleter.h"
#include "operator/execute/template_check.h"
#include "operator/single_records.h"

namespace trainyard::operator_ {

// Carries out actions; each kind has a class of its own. Every action may be repeated: an answer that the
// change was made before counts as success.
class ActionRunner {
 public:
  ActionRunner(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps, TemplateChecks& checks,
               SingleRecords& singles);
  ActionRunner(const ActionRunner&) = delete;
  ActionRunner& operator=(const ActionRunner&) = delete;

  // One part of the step, which ends with the action.
  void run(const StepPtr& step, const core::Action& action);

  [[nodiscard]] PodDeleter& deleter() { return deleter_; }
  [[nodiscard]] EvidenceCollector& evidence() { return evidence_; }
  [[nodiscard]] PreflightOffer& preflight() { return preflight_; }

 private:
  void collectEvidence(const StepPtr& step);
  void deleteJob(const StepPtr& step);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
  BodyWindow bodies_;
  EvidenceCollector evidence_;
  PreflightOffer preflight_;
  TemplateCheck templateCheck_;
  FinalizerPatch finalizers_;
  AuxiliaryObjects auxiliaries_;
  PodDeleter deleter_;
  MemberPods members_;
  MemberNotices notices_;
  OwnedPods owned_;
};

}  // namespace trainyard::operator_
