#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/job.h"

namespace trainyard::simulation {

// What must hold for every write about failures:
// - each failed start is answered once: at most one restart is counted for it, and an epoch follows
// - a failure that would recur is not restarted, and no class is restarted more often than permitted
// - an ended job stays ended
class FailureLaws {
 public:
  explicit FailureLaws(std::function<void(std::string)> violated) : violated_(std::move(violated)) {}

  void check(const model::Job& before, const model::Job& after) const;

 private:
  std::function<void(std::string)> violated_;
};

}  // namespace trainyard::simulation
