#pragma once

#include <cstddef>
#include <string>

#include "operator/body_window.h"
#include "operator/execute/auxiliary_objects.h"
#include "operator/execute/decisions_under_way.h"
#include "operator/execute/pod_deleter.h"
#include "operator/single_records.h"

namespace trainyard::operator_ {

// CreateMember, ReleaseMember: the pods of a gang.
class MemberPods {
 public:
  MemberPods(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps, BodyWindow& bodies,
             SingleRecords& singles, const PreflightOffer& preflight, AuxiliaryObjects& auxiliaries,
             PodDeleter& deleter)
      : deps_(dependencies),
        steps_(steps),
        bodies_(bodies),
        singles_(singles),
        preflight_(preflight),
        auxiliaries_(auxiliaries),
        deleter_(deleter) {}

  void create(const StepPtr& step, const core::CreateMember& action);
  void release(const StepPtr& step, const core::ReleaseMember& action);

 private:
  void createMember(const StepPtr& step, const core::CreateMember& action, std::size_t bytes);
  void readMember(const StepPtr& step, const std::string& name);
  void reportFormerPod(const StepPtr& step, const std::string& pod);
  void singleNameTaken(const StepPtr& step, const model::Pod& pod);
  void noteRelease(const model::Job& job);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
  BodyWindow& bodies_;
  SingleRecords& singles_;
  const PreflightOffer& preflight_;
  AuxiliaryObjects& auxiliaries_;
  PodDeleter& deleter_;
};

}  // namespace trainyard::operator_
