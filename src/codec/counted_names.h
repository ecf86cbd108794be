#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::codec {

// Which names of a pod's or node's resources are counted: the first model::limits::kResourceNames in the
// order in which they are read, and GPUs in any case, which nobody may hide behind names that he made up.
class CountedNames {
 public:
  // Whether amounts of that name are to be counted.
  [[nodiscard]] bool take(std::string_view name);
  // How often a name was not.
  [[nodiscard]] int leftOut() const { return leftOut_; }

 private:
  std::vector<std::string> names_;
  int leftOut_ = 0;
};

}  // namespace trainyard::codec
