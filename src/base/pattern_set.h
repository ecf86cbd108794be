#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::base {

// A set of regular expressions (RE2's syntax): one pass over a text finds all that match it, in time linear
// in the text whatever the patterns are. Texts are bytes, all valid. Copies share the compiled set.
class PatternSet {
 public:
  // kInvalid describes the first pattern that is not a regular expression.
  [[nodiscard]] static Result<PatternSet> compile(std::span<const std::string> patterns);

  // Stores the numbers of the patterns that match anywhere in `text` in `found`, ascending; clears it first.
  void match(std::string_view text, std::vector<int>& found) const;

 private:
  struct Impl;
  explicit PatternSet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Returns the error in the expression, such as "missing ): a(b"; empty if it is valid.
[[nodiscard]] std::string patternError(const std::string& pattern);

}  // namespace trainyard::base
