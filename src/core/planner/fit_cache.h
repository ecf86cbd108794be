#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/planner/job_plan.h"
#include "model/model_profile.h"

namespace trainyard::core {

// What was fitted to profiles, which takes milliseconds: of each one the last answer, as long as a job has
// it. Changes no answer. Assumes that who keeps a profile does not change it.
class FitCache {
 public:
  using ProfilePtr = std::shared_ptr<const model::ModelProfile>;
  // As fitProfile() asks.
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
    std::vector<NodePool> pools;  // with their slowness
  };

  [[nodiscard]] const Fit& of(const ProfilePtr& profile, const Question& question);
  // Last in a cycle: forgets what no job has any more.
  void forgetGone();
  // How often anything was fitted.
  [[nodiscard]] int made() const { return made_; }

 private:
  std::map<std::weak_ptr<const model::ModelProfile>, Fit, std::owner_less<>> fits_;
  int made_ = 0;
};

}  // namespace trainyard::core
