#include "base/json_text.h"
#include "core/lifecycle.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {
namespace {

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = base::utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

// Any bytes as the log of a failed member.
void failureLog(std::string_view input) {
  static const core::FailureClassifier classifier = *core::FailureClassifier::make();
  model::MemberEvidence member{.role = "worker", .phase = model::PodPhase::kFailed};
  member.containers.push_back({.name = "main", .ended = true, .exitCode = 1});
  member.log = input;
  for (const core::LogLine& line : core::lastLines(input)) {
    require(isUtf8(line.text), "lines are text");
    require(line.text.size() <= core::kLineBytes, "lines are bounded");
  }
  const core::Classification found = classifier.classify({&member, 1});
  require(found.root == 0, "the only member is the root");
  require(found.line.size() <= 256 && isUtf8(found.line), "what is shown is short text");
  require(found.rule.empty() == (found.failure == model::FailureClass::kUnknown), "a class has its rule");
}

}  // namespace trainyard::fuzz
