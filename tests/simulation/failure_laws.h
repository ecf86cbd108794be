#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/job.h"

namespace trainyard::simulation {

// What must hold of every write that tells of failures:
//  - each failed start is answered once: one restart at most is counted with it, and an epoch follows
//  - what would fail again does not start anew, and no class starts anew more often than it may
//  - what has ended has ended
class FailureLaws {
 public:
  explicit FailureLaws(std::function<void(std::string)> violated) : violated_(std::move(violated)) {}

  void check(const model::Job& before, const model::Job& after) const;

 private:
  std::function<void(std::string)> violated_;
};

}  // namespace trainyard::simulation
