#pragma once

#include <map>
#include <string>

#include "model/model_profile.h"

namespace trainyard::core {

// How fast one GPU of each type trains the model, as told by the profile or measured; samples a second in
// thousandths. Of a type that has both what is told counts; of several measured steps those of one worker
// alone, the fastest of them. Empty where fewer than two types are known: nothing follows from one.
[[nodiscard]] std::map<std::string, std::int64_t> typeSpeeds(const model::ModelProfile& profile);

}  // namespace trainyard::core
