#pragma once

#include <map>
#include <string>

#include "model/model_profile.h"

namespace trainyard::core {

// How fast one GPU of each type trains the model, declared in the profile or measured; thousandths of a
// sample a second. A declared speed takes precedence. Measured steps count only with a single worker, the
// fastest of them. Empty with fewer than two types: one type gives no comparison.
[[nodiscard]] std::map<std::string, std::int64_t> typeSpeeds(const model::ModelProfile& profile);

}  // namespace trainyard::core
