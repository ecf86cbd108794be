#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/pattern_set.h"
#include "model/failure_rule.h"

namespace trainyard::core {

// Rules with their patterns of each kind compiled together, so that every text is looked at once.
class RuleBook {
 public:
  // kInvalid names the rule whose pattern is no expression.
  [[nodiscard]] static base::Result<RuleBook> make(std::vector<model::FailureRule> rules);

  [[nodiscard]] const std::vector<model::FailureRule>& rules() const { return rules_; }
  // Numbers of the rules with a pattern of that kind that matches, into `found`.
  void inLine(std::string_view line, std::vector<int>& found) const { match(log_, line, found); }
  void inReason(std::string_view reason, std::vector<int>& found) const { match(reason_, reason, found); }
  void inMessage(std::string_view message, std::vector<int>& found) const { match(message_, message, found); }

 private:
  struct Patterns {
    base::PatternSet set;
    std::vector<int> rules;  // whose each pattern is
  };
  static void match(const Patterns& patterns, std::string_view text, std::vector<int>& found);
  [[nodiscard]] static base::Result<Patterns> compile(const std::vector<model::FailureRule>& rules,
                                                      std::string model::FailureRule::* pattern);
  RuleBook(std::vector<model::FailureRule> rules, Patterns log, Patterns reason, Patterns message)
      : rules_(std::move(rules)),
        log_(std::move(log)),
        reason_(std::move(reason)),
        message_(std::move(message)) {}

  std::vector<model::FailureRule> rules_;
  Patterns log_;
  Patterns reason_;
  Patterns message_;
};

}  // namespace trainyard::core
