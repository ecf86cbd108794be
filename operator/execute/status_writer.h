#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>

#include "operator/deferred_writes.h"
#include "operator/execute/decisions_under_way.h"
#include "operator/template_checks.h"

namespace trainyard::operator_ {

// Writes the status of a decision, guarded by resourceVersion. A write with an unknown outcome is followed by
// a read.
class StatusWriter {
 public:
  // Calls `runActions` once a status is written: actions act on the record as written.
  StatusWriter(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps, DeferredWrites& deferred,
               TemplateChecks& checks, std::function<void(const StepPtr&)> runActions)
      : deps_(dependencies),
        steps_(steps),
        deferredWrites_(deferred),
        checks_(checks),
        runActions_(std::move(runActions)) {}

  void write(const StepPtr& step);
  void recordEvents(const Step& step);

 private:
  enum class Reread { kAfterConflict, kOutcomeUnknown };

  void statusWritten(const StepPtr& step, const Answer& answer);
  [[nodiscard]] bool tookEffect(const Step& step);
  void reread(const StepPtr& step, Reread why);
  void shrink(const StepPtr& step);
  void deleteTooLarge(const StepPtr& step);
  [[nodiscard]] bool writeAgain(const StepPtr& step);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
  DeferredWrites& deferredWrites_;
  TemplateChecks& checks_;
  std::function<void(const StepPtr&)> runActions_;
  std::unordered_map<model::Uid, std::size_t> lastHash_;  // of the last status write that succeeded
};

}  // namespace trainyard::operator_
