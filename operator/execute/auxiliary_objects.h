#pragma once

#include <string>

#include "operator/execute/decisions_under_way.h"
#include "operator/execute/member_bodies.h"

namespace trainyard::operator_ {

// EnsureAuxiliaries: the objects that a gang's members need beside their pods: Services, the ConfigMap of its
// members, files of its framework, Secrets by which members authenticate each other, a PodDisruptionBudget.
class AuxiliaryObjects {
 public:
  AuxiliaryObjects(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps,
                   const PreflightOffer& preflight)
      : deps_(dependencies), steps_(steps), preflight_(preflight) {}

  void run(const StepPtr& step);
  // Single-pod jobs need nothing else.
  void runForSinglePod(const StepPtr& step);

 private:
  void warnOfOwnVariables(const StepPtr& step);
  void ensureDisruptionBudget(const StepPtr& step);
  void ensureMemberServices(const StepPtr& step);
  void ensureSshKeys(const StepPtr& step);
  void ensureLaunchToken(const StepPtr& step);
  void ensureOurs(const StepPtr& step, const kube::ResourceType& type, std::string body);
  void ensureOwned(const StepPtr& step, const kube::ResourceType& type, const std::string& name,
                   std::string body);
  void checkOwner(const StepPtr& step, const kube::ResourceType& type, const std::string& name);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
  const PreflightOffer& preflight_;
};

}  // namespace trainyard::operator_
