#pragma once

// Internal to src/sim: label and field selectors.

#include <string>
#include <vector>

#include "sim/api/json.h"
#include "sim/api/status.h"

namespace trainyard::sim {

struct LabelRequirement {
  enum class Op { kIn, kNotIn, kExists, kAbsent, kGreater, kLess };
  std::string key;
  Op op = Op::kExists;
  std::vector<std::string> values;
};

struct FieldRequirement {
  std::string path;
  std::string value;
  bool equal = true;
};

class Selector {
 public:
  // Either text may be empty. 400 for a text that does not parse or a field that `knownFields` lacks.
  [[nodiscard]] static Outcome<Selector> parse(const std::string& labels, const std::string& fields,
                                               const std::vector<std::string>& knownFields);

  [[nodiscard]] bool matches(const Json& object) const;
  [[nodiscard]] bool empty() const { return labels_.empty() && fields_.empty(); }

 private:
  std::vector<LabelRequirement> labels_;
  std::vector<FieldRequirement> fields_;
};

}  // namespace trainyard::sim
