#include "core/lifecycle/member_verdict.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/lifecycle/marked_lines.h"

namespace trainyard::core {
namespace {

using model::FailureRule;
using model::Sign;

// An older line is less likely to have ended the program: each later line costs a point of weight, up to this
// many.
constexpr int kMaxForAge = 30;

bool failed(const model::ContainerEvidence& container) { return container.ended && container.exitCode != 0; }

MemberVerdict::State stateOf(const model::MemberEvidence& member) {
  const bool anyFailed = std::any_of(member.containers.begin(), member.containers.end(), failed);
  if (member.phase == model::PodPhase::kFailed) return MemberVerdict::State::kLost;
  // A sidecar that is killed after the program succeeded is not a failure.
  if (member.phase == model::PodPhase::kSucceeded) return MemberVerdict::State::kEndedWell;
  if (anyFailed) return MemberVerdict::State::kLost;
  const bool allEnded =
      !member.containers.empty() && std::all_of(member.containers.begin(), member.containers.end(),
                                                [](const auto& each) { return each.ended; });
  return allEnded ? MemberVerdict::State::kEndedWell : MemberVerdict::State::kAlive;
}

std::optional<base::WallTime> firstEnd(const model::MemberEvidence& member) {
  std::optional<base::WallTime> first;
  for (const model::ContainerEvidence& container : member.containers) {
    if (failed(container) && container.finishedAt && (!first || *container.finishedAt < *first))
      first = container.finishedAt;
  }
  return first;
}

// The texts of the pod's Kubernetes status, as two lists.
struct MemberTexts {
  std::vector<std::string_view> reasons;
  std::vector<std::string_view> messages;
};

MemberTexts textsOf(const model::MemberEvidence& member) {
  MemberTexts memberTexts{{member.reason}, {member.message}};
  for (const model::ConditionEvidence& condition : member.conditions) {
    if (condition.type == "DisruptionTarget" && !condition.holds) continue;
    memberTexts.reasons.push_back(condition.reason);
    memberTexts.messages.push_back(condition.message);
  }
  for (const model::ContainerEvidence& container : member.containers) {
    memberTexts.reasons.insert(memberTexts.reasons.end(), {container.reason, container.waitingReason});
    memberTexts.messages.insert(memberTexts.messages.end(), {container.message, container.waitingMessage});
  }
  return memberTexts;
}

// The first text in which each rule's pattern was found; empty texts match nothing.
class Found {
 public:
  explicit Found(std::size_t rules) : texts_(rules) {}
  template <typename Match>
  void in(const std::vector<std::string_view>& texts, Match&& match) {
    std::vector<int> found;
    for (const std::string_view text : texts) {
      if (text.empty()) continue;
      match(text, found);
      for (const int each : found) {
        if (std::string_view& first = texts_[static_cast<std::size_t>(each)]; first.empty()) first = text;
      }
    }
  }
  [[nodiscard]] std::string_view operator[](std::size_t rule) const { return texts_[rule]; }

 private:
  std::vector<std::string_view> texts_;
};

bool endedSo(const FailureRule& rule, const model::ContainerEvidence& container) {
  if (!failed(container)) return false;
  const bool byCode =
      std::find(rule.exitCodes.begin(), rule.exitCodes.end(), container.exitCode) != rule.exitCodes.end();
  return byCode || (rule.signal != 0 && rule.signal == container.signal);
}

// The evidence outside the log.
class Conditions {
 public:
  Conditions(const model::MemberEvidence& member, const BookReading& book)
      : member_(&member), reasons_(book.rules().size()), messages_(book.rules().size()) {
    const MemberTexts memberTexts = textsOf(member);
    reasons_.in(memberTexts.reasons,
                [&](std::string_view text, std::vector<int>& found) { book.inReason(text, found); });
    messages_.in(memberTexts.messages,
                 [&](std::string_view text, std::vector<int>& found) { book.inMessage(text, found); });
  }

  [[nodiscard]] bool hold(std::size_t number, const FailureRule& rule) const {
    if (!rule.reason.empty() && reasons_[number].empty()) return false;
    if (!rule.message.empty() && messages_[number].empty()) return false;
    if (rule.exitCodes.empty() && rule.signal == 0) return true;
    return ender(rule) != nullptr;
  }
  // Returns the text to show for a rule that holds.
  [[nodiscard]] std::string text(std::size_t number, const FailureRule& rule) const {
    if (!messages_[number].empty()) return std::string(messages_[number]);
    if (!reasons_[number].empty())
      return member_->message.empty() ? std::string(reasons_[number])
                                      : fmt::format("{}: {}", reasons_[number], member_->message);
    const model::ContainerEvidence* container = ender(rule);
    return container == nullptr ? std::string() : fmt::format("exit code {}", container->exitCode);
  }

 private:
  [[nodiscard]] const model::ContainerEvidence* ender(const FailureRule& rule) const {
    for (const model::ContainerEvidence& container : member_->containers) {
      if (endedSo(rule, container)) return &container;
    }
    return nullptr;
  }

  const model::MemberEvidence* member_;
  Found reasons_;
  Found messages_;
};

struct Candidate {
  int rule = -1;
  bool fromLog = false;
  int weight = 0;
  std::size_t line = 0;
  std::string text = {};
};

int strengthOf(Sign sign) {
  switch (sign) {
    case Sign::kFact: return 6;
    case Sign::kCause: return 5;
    // Both have one rank: which is nearer to the root depends on how specific the rule is.
    case Sign::kDerived:
    case Sign::kConsequence: return 3;
    case Sign::kSymptom: return 2;
    default: return 1;
  }
}

// Returns true if the rule names only the kind of line: an exception, an abort.
bool general(const FailureRule& rule) {
  constexpr int kGeneral = 45;
  return rule.sign == Sign::kSymptom || (rule.sign == Sign::kCause && rule.weight < kGeneral);
}

std::vector<Candidate> candidatesOf(const model::MemberEvidence& member, const BookReading& book) {
  const Conditions conditions(member, book);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < book.rules().size(); ++i) {
    const FailureRule& rule = book.rules()[i];
    if (!rule.log.empty() || !conditions.hold(i, rule)) continue;
    candidates.push_back({.rule = static_cast<int>(i),
                          .fromLog = false,
                          .weight = rule.weight,
                          .line = 0,
                          .text = conditions.text(i, rule)});
  }
  const std::vector<MarkedLine> lines = markLines(member, book);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const MarkedLine& line = lines[at];
    if (!line.evidence) continue;
    // If a specific rule matches the line, the general ones are dropped.
    const bool named = std::any_of(line.signs.begin(), line.signs.end(), [&](int number) {
      return !general(book.rules()[static_cast<std::size_t>(number)]);
    });
    for (const int number : line.signs) {
      const FailureRule& rule = book.rules()[static_cast<std::size_t>(number)];
      if (line.quiet && !rule.evenIfQuiet) continue;
      if (named && general(rule)) continue;
      if (!conditions.hold(static_cast<std::size_t>(number), rule)) continue;
      const int weight = rule.weight - std::min(line.laterLines, kMaxForAge);
      candidates.push_back(
          {.rule = number, .fromLog = true, .weight = weight, .line = at, .text = line.text});
    }
  }
  return candidates;
}

}  // namespace

MemberVerdict judgeMember(const model::MemberEvidence& member, const BookReading& book) {
  MemberVerdict verdict;
  verdict.state = stateOf(member);
  verdict.endedAt = firstEnd(member);
  if (verdict.state == MemberVerdict::State::kEndedWell) return verdict;
  std::vector<Candidate> candidates = candidatesOf(member, book);
  const auto signOf = [&](const Candidate& each) {
    return book.rules()[static_cast<std::size_t>(each.rule)].sign;
  };
  const auto isOthers = [&](const Candidate& each) {
    return signOf(each) == Sign::kConsequence || signOf(each) == Sign::kDerived;
  };
  std::size_t firstOthers = static_cast<std::size_t>(-1);
  for (const Candidate& each : candidates) {
    if (each.fromLog && isOthers(each)) firstOthers = std::min(firstOthers, each.line);
  }
  const auto strength = [&](const Candidate& each) {
    const FailureRule& rule = book.rules()[static_cast<std::size_t>(each.rule)];
    // An exception logged before any sign of other members ranks first: they ended because of it.
    const bool before = rule.sign == Sign::kSymptom && rule.failure == model::FailureClass::kUserCodeError &&
                        each.fromLog && each.line < firstOthers;
    return before ? 4 : strengthOf(rule.sign);
  };
  const Candidate* best = nullptr;
  const auto rank = [&](const Candidate& each) { return std::tuple(strength(each), each.weight, each.line); };
  for (const Candidate& each : candidates) {
    if (best == nullptr || rank(each) > rank(*best)) best = &each;
  }
  if (best == nullptr) return verdict;
  verdict.rule = best->rule;
  verdict.sign = signOf(*best);
  verdict.fromLog = best->fromLog;
  verdict.line = best->text;
  return verdict;
}

}  // namespace trainyard::core
