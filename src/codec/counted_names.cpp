#include "codec/counted_names.h"

#include <algorithm>

#include "model/gpu_resources.h"
#include "model/limits.h"

namespace trainyard::codec {

bool CountedNames::take(std::string_view name) {
  if (model::isGpuResource(name)) return true;
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return true;
  if (names_.size() >= model::limits::kResourceNames) {
    ++leftOut_;
    return false;
  }
  names_.emplace_back(name);
  return true;
}

}  // namespace trainyard::codec
