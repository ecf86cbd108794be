#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/planner/job_plan.h"
#include "model/model_profile.h"

namespace trainyard::core {

// Fits of profiles, which take milliseconds: the last result of each profile while a job has it. The cache
// changes no result. Assumes that a shared profile is never modified.
class FitCache {
 public:
  using ProfilePtr = std::shared_ptr<const model::ModelProfile>;
  // The arguments of fitProfile().
  struct Question {
    bool parameterServers = false;
    std::int64_t gpusPerWorker = 0;
    double cores = 0;
    std::vector<NodePool> pools = {};
    friend bool operator==(const Question&, const Question&) = default;
  };
  struct Fit {
    Question question;
    FittedProfile fitted;
    std::vector<NodePool> pools;  // with their slowness filled in
  };

  [[nodiscard]] const Fit& of(const ProfilePtr& profile, const Question& question);
  // Called last in a cycle: drops profiles that no job has any more.
  void forgetGone();
  // The number of fits so far.
  [[nodiscard]] int made() const { return made_; }

 private:
  std::map<std::weak_ptr<const model::ModelProfile>, Fit, std::owner_less<>> fits_;
  int made_ = 0;
};

}  // namespace trainyard::core
