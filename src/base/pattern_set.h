#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::base {

// Regular expressions (RE2's syntax) that are looked for together: one pass over a text finds all that match
// it, in time linear in the text whatever the patterns are. Texts are bytes; none is malformed. Copies share.
class PatternSet {
 public:
  // kInvalid says what is wrong with the first pattern that is no expression.
  [[nodiscard]] static Result<PatternSet> compile(std::span<const std::string> patterns);

  // The numbers of the patterns that match somewhere in `text`, ascending, into `found`, emptied first.
  void match(std::string_view text, std::vector<int>& found) const;

 private:
  struct Impl;
  explicit PatternSet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// What is wrong with the expression, such as "missing ): a(b"; empty when nothing is.
[[nodiscard]] std::string patternError(const std::string& pattern);

}  // namespace trainyard::base
