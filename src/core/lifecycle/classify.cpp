#include "core/lifecycle/classify.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/cut_text.h"
#include "core/lifecycle/failure_class.h"
#include "core/lifecycle/failure_rules.h"
#include "core/lifecycle/lagging_member.h"
#include "core/lifecycle/log_lines.h"
#include "core/lifecycle/root_cause.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kShownBytes = 256;

// Returns the first line without control characters, which could change the reader's terminal.
std::string shown(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  const std::string line = withoutControls(text.substr(0, text.find_first_of("\r\n")));
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return std::string(base::cutText(std::string_view(line).substr(first), kShownBytes));
}

}  // namespace

struct FailureClassifier::Impl {
  explicit Impl(RuleBook all) : book(std::move(all)) {}
  RuleBook book;
};

std::string memberName(const model::MemberEvidence& member) {
  return fmt::format("{}-{}", member.role, member.index);
}

base::Result<FailureClassifier> FailureClassifier::make(const std::vector<model::FailureRule>& own) {
  std::vector<model::FailureRule> rules = own;
  for (model::FailureRule& rule : builtInRules()) rules.push_back(std::move(rule));
  auto book = RuleBook::make(std::move(rules));
  if (!book) return base::fail(book.error());
  return FailureClassifier(std::make_shared<const Impl>(std::move(*book)));
}

Classification FailureClassifier::classify(std::span<const model::MemberEvidence> members,
                                           const std::function<bool()>& enough) const {
  const BookReading reading(impl_->book, enough);
  std::vector<MemberVerdict> verdicts;
  verdicts.reserve(members.size());
  for (const model::MemberEvidence& member : members) verdicts.push_back(judgeMember(member, reading));
  Classification result;
  result.root = rootMember(verdicts, impl_->book);
  result.action = defaultReaction(result.failure).action;
  if (!result.root || verdicts[*result.root].rule < 0) return result;
  const MemberVerdict& verdict = verdicts[*result.root];
  const model::FailureRule& rule = impl_->book.rules()[static_cast<std::size_t>(verdict.rule)];
  result.failure = rule.failure;
  result.rule = rule.name;
  result.confidence = rule.confidence;
  result.line = shown(verdict.line);
  result.action = rule.action.value_or(defaultReaction(rule.failure).action);
  if (rule.failure == model::FailureClass::kCollectiveTimeout && members.size() > 1)
    findLaggard(members, verdicts, result);
  return result;
}

void FailureClassifier::findLaggard(std::span<const model::MemberEvidence> members,
                                    const std::vector<MemberVerdict>& verdicts,
                                    Classification& result) const {
  const auto laggard = laggingMember(members, verdicts, impl_->book);
  if (!laggard) {
    result.confidence = model::Confidence::kLow;
    result.note = "the logs do not show which member the others waited for";
    return;
  }
  result.root = laggard->member;
  result.confidence = std::min(result.confidence, laggard->confidence);
  result.note = laggard->note;
}

}  // namespace trainyard::core
