#pragma once

#include <string>
#include <vector>

namespace trainyard::model {

// A variable that a container begins with.
struct Variable {
  std::string name;
  std::string value;
  // Not empty: the value is what this key of the job's framework files holds, and `value` is empty. For what
  // is the same for all members and long.
  std::string fileKey = {};
  friend bool operator==(const Variable&, const Variable&) = default;
};

using Environment = std::vector<Variable>;

}  // namespace trainyard::model
