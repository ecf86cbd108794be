#pragma once

#include <string>
#include <vector>

#include "codec/failure_cases.h"
#include "core/lifecycle.h"

namespace trainyard::cli {

struct ClassifiedCase {
  codec::FailureCase given;
  core::Classification found;
};

// One line for each case: name, class, root member, action, rule, confidence, and the line that decides.
[[nodiscard]] std::string classifyTable(const std::vector<ClassifiedCase>& cases);
// The same as a list of objects.
[[nodiscard]] std::string classifyJson(const std::vector<ClassifiedCase>& cases);

// The accuracy of the classification, over the cases with an expected class, in thousandths.
struct ClassifyScore {
  // The mean F1 of all classes that were expected or found: a
  // rare class counts as much as a frequent one.
  int macroF1 = 0;
  int roots = 0;  // of the cases with an expected root member, those with the right one
  std::string text = {};
};

// Cases without an expected class are left out.
[[nodiscard]] ClassifyScore scoreCases(const std::vector<ClassifiedCase>& cases);

}  // namespace trainyard::cli
