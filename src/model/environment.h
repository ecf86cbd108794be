#pragma once

#include <string>
#include <vector>

namespace trainyard::model {

// An environment variable of a container.
struct Variable {
  std::string name;
  std::string value;
  // If not empty, the value is the content of this key in the job's framework files, and `value` is empty. It
  // is for long values that are equal for all members.
  std::string fileKey = {};
  friend bool operator==(const Variable&, const Variable&) = default;
};

using Environment = std::vector<Variable>;

}  // namespace trainyard::model
