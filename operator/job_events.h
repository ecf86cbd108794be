#pragma once

#include "codec/event.h"
#include "core/gang/action.h"
#include "model/job.h"

namespace trainyard::operator_ {

// Receives the history of jobs, and of objects of other controllers that ask for a queue. An interface, so
// that tests and the sandbox can observe it.
class JobEvents {
 public:
  JobEvents() = default;
  JobEvents(const JobEvents&) = delete;
  JobEvents& operator=(const JobEvents&) = delete;
  virtual ~JobEvents() = default;
  virtual void record(const model::Job& job, const core::JobEvent& event) = 0;
  virtual void recordOn(const codec::ObjectRef& object, const core::JobEvent& event) = 0;
};

}  // namespace trainyard::operator_
