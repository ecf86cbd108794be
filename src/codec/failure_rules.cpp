#include "codec/failure_rules.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/pattern_set.h"

namespace trainyard::codec {
namespace {

constexpr std::size_t kMaxRules = 200;
constexpr std::size_t kMaxPattern = 1'000;
constexpr std::size_t kMaxExitCodes = 64;
// Higher than the weight of every built-in rule: the administrator's rules take precedence.
constexpr int kOwnWeight = 200;

std::string classNames() {
  std::string names;
  for (const model::FailureClass each : model::allFailureClasses()) {
    if (each == model::FailureClass::kUnknown) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", toString(each));
  }
  return names;
}

void readPattern(const YamlField& field, std::string& into) {
  if (!field.present()) return;
  const std::string pattern(field.text());
  if (pattern.empty()) return field.complain("matches everything");
  if (pattern.size() > kMaxPattern)
    return field.complain(fmt::format("must be {} bytes at most", kMaxPattern));
  if (const std::string wrong = base::patternError(pattern); !wrong.empty())
    return field.complain(fmt::format("is not a regular expression (RE2): {}", wrong));
  into = pattern;
}

int readNumber(const YamlField& field, int least, int most) {
  const std::string text = field.scalar();
  int number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stopped != text.data() + text.size() || number < least || number > most)
    field.refuse(fmt::format("must be a whole number from {} to {}", least, most));
  return number;
}

void readClass(const YamlField& field, model::FailureClass& into) {
  const auto failure = model::parseFailureClass(field.text());
  if (!failure || *failure == model::FailureClass::kUnknown)
    return field.refuse(fmt::format("must be one of {}", classNames()));
  into = *failure;
}

void readAction(const YamlField& field, std::optional<model::FailureAction>& into) {
  if (!field.present()) return;
  into = model::parseFailureAction(field.text());
  if (!into) field.refuse("must be EndNow, Restart, RestartElsewhere or RestartMoreMemory");
}

model::FailureRule readRule(const YamlField& field) {
  field.expectKeys({"name", "class", "log", "reason", "message", "exitCodes", "signal", "action"});
  model::FailureRule rule;
  rule.name = field["name"].text();
  if (rule.name.empty()) field.complain("needs a name");
  if (!field["class"].present()) field.complain("needs a class");
  if (field["class"].present()) readClass(field["class"], rule.failure);
  readPattern(field["log"], rule.log);
  readPattern(field["reason"], rule.reason);
  readPattern(field["message"], rule.message);
  field["exitCodes"].forEachElement([&](const YamlField& each) {
    if (rule.exitCodes.size() == kMaxExitCodes) return each.complain("is one exit code too many");
    rule.exitCodes.push_back(readNumber(each, 1, 255));
  });
  if (const YamlField signal = field["signal"]; signal.present()) {
    rule.signal = readNumber(signal, 1, 64);
    // Most runtimes report a signal only in this way.
    rule.exitCodes.push_back(128 + rule.signal);
  }
  readAction(field["action"], rule.action);
  const bool byKubernetes = !rule.reason.empty() || !rule.message.empty();
  if (!byKubernetes && rule.log.empty() && rule.exitCodes.empty())
    field.complain("needs log, reason, message, exitCodes or signal");
  rule.sign = byKubernetes ? model::Sign::kFact : model::Sign::kCause;
  rule.weight = kOwnWeight;
  rule.evenIfQuiet = true;
  return rule;
}

}  // namespace

void readFailureRules(const YamlField& field, std::vector<model::FailureRule>& into) {
  field.forEachElement([&](const YamlField& each) {
    if (into.size() == kMaxRules) return each.complain(fmt::format("is one too many: {} at most", kMaxRules));
    model::FailureRule rule = readRule(each);
    const bool again = std::any_of(into.begin(), into.end(), [&](const model::FailureRule& earlier) {
      return earlier.name == rule.name;
    });
    if (again) each["name"].refuse("must be used once only");
    into.push_back(std::move(rule));
  });
}

}  // namespace trainyard::codec
