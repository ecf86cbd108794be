#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/pattern_set.h"
#include "model/failure_rule.h"

namespace trainyard::core {

// Rules with the patterns of each kind compiled into one set, so that every text is scanned once.
class RuleBook {
 public:
  // kInvalid names the rule with a pattern that is not a regular expression.
  [[nodiscard]] static base::Result<RuleBook> make(std::vector<model::FailureRule> rules);

  [[nodiscard]] const std::vector<model::FailureRule>& rules() const { return rules_; }
  // Each stores in `found` the numbers of the rules with a matching pattern of that kind.
  void inLine(std::string_view line, std::vector<int>& found) const { match(log_, line, found); }
  void inReason(std::string_view reason, std::vector<int>& found) const { match(reason_, reason, found); }
  void inMessage(std::string_view message, std::vector<int>& found) const { match(message_, message, found); }

 private:
  struct Patterns {
    base::PatternSet set;
    std::vector<int> rules;  // the rule of each pattern
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

// The rule book under a time limit: once `enough` returns true, it finds no further match.
class BookReading {
 public:
  BookReading(const RuleBook& book, const std::function<bool()>& enough) : book_(book), enough_(enough) {}

  [[nodiscard]] const RuleBook& book() const { return book_; }
  [[nodiscard]] const std::vector<model::FailureRule>& rules() const { return book_.rules(); }
  void inLine(std::string_view line, std::vector<int>& found) const {
    if (isWithinLimit(found)) book_.inLine(line, found);
  }
  void inReason(std::string_view reason, std::vector<int>& found) const {
    if (isWithinLimit(found)) book_.inReason(reason, found);
  }
  void inMessage(std::string_view message, std::vector<int>& found) const {
    if (isWithinLimit(found)) book_.inMessage(message, found);
  }

 private:
  [[nodiscard]] bool isWithinLimit(std::vector<int>& found) const {
    found.clear();
    return !enough_ || !enough_();
  }

  const RuleBook& book_;
  const std::function<bool()>& enough_;
};

}  // namespace trainyard::core
