#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::codec {

// Selects which resource names of a pod or node are counted: the first model::limits::kResourceNames in the
// order of the text, and GPUs in any case, so that GPUs cannot be hidden behind invented names.
class CountedNames {
 public:
  // Returns true if amounts of that name are counted.
  [[nodiscard]] bool take(std::string_view name);
  // The number of names that were not counted.
  [[nodiscard]] int leftOut() const { return leftOut_; }

 private:
  std::vector<std::string> names_;
  int leftOut_ = 0;
};

}  // namespace trainyard::codec
