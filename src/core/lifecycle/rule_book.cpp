#include "core/lifecycle/rule_book.h"

#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace trainyard::core {

base::Result<RuleBook::Patterns> RuleBook::compile(const std::vector<model::FailureRule>& rules,
                                                   std::string model::FailureRule::* pattern) {
  std::vector<std::string> texts;
  std::vector<int> owners;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string& text = rules[i].*pattern;
    if (text.empty()) continue;
    if (const std::string wrong = base::patternError(text); !wrong.empty())
      return base::fail(base::ErrorCode::kInvalid, fmt::format("rule {}: {}", rules[i].name, wrong));
    texts.push_back(text);
    owners.push_back(static_cast<int>(i));
  }
  auto set = base::PatternSet::compile(texts);
  if (!set) return base::fail(set.error());
  return Patterns{std::move(*set), std::move(owners)};
}

base::Result<RuleBook> RuleBook::make(std::vector<model::FailureRule> rules) {
  auto log = compile(rules, &model::FailureRule::log);
  if (!log) return base::fail(log.error());
  auto reason = compile(rules, &model::FailureRule::reason);
  if (!reason) return base::fail(reason.error());
  auto message = compile(rules, &model::FailureRule::message);
  if (!message) return base::fail(message.error());
  return RuleBook(std::move(rules), std::move(*log), std::move(*reason), std::move(*message));
}

void RuleBook::match(const Patterns& patterns, std::string_view text, std::vector<int>& found) {
  patterns.set.match(text, found);
  for (int& each : found) each = patterns.rules[static_cast<std::size_t>(each)];
}

}  // namespace trainyard::core
