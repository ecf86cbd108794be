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

// A line for each case: name, class, root member, action, rule, how sure, and what tells it.
[[nodiscard]] std::string classifyTable(const std::vector<ClassifiedCase>& cases);
// A list of objects with the same.
[[nodiscard]] std::string classifyJson(const std::vector<ClassifiedCase>& cases);

// How well cases that say what they are were recognised, in thousandths.
struct ClassifyScore {
  // The mean over all classes that were expected or found of their F1: a rare class counts as much as a
  // frequent one.
  int macroF1 = 0;
  int roots = 0;  // of the cases that name a root member, those whose root was found
  std::string text = {};
};

// Cases that say nothing are left out.
[[nodiscard]] ClassifyScore scoreCases(const std::vector<ClassifiedCase>& cases);

}  // namespace trainyard::cli
