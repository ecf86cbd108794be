#pragma once

#include <map>
#include <string>
#include <utility>

#include "model/job.h"

namespace trainyard::core {

// The type of GPU that a job gets if it has capacity.
class TypePreference {
 public:
  // The choices of this cycle (core/search/type_choice.h). They override the jobs' plans.
  void choose(std::map<model::ObjectKey, std::string> types) { chosen_ = std::move(types); }

  // The chosen type, else that of the job's plan; nullptr if no type is preferred.
  [[nodiscard]] const std::string* of(const model::Job& job) const;

 private:
  std::map<model::ObjectKey, std::string> chosen_;
};

}  // namespace trainyard::core
