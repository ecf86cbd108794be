#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/lifecycle/member_verdict.h"
#include "model/failure_class.h"
#include "model/failure_rule.h"
#include "model/member_evidence.h"

namespace trainyard::core {

// Why a gang failed.
struct Classification {
  model::FailureClass failure = model::FailureClass::kUnknown;
  std::string rule = {};  // name of the rule that matched; empty for kUnknown
  std::optional<std::size_t> root =
      std::nullopt;  // the member that failed first, or caused the others to fail
  model::Confidence confidence = model::Confidence::kLow;
  std::string note = {};  // for a time-out that many members report: what shows which member caused it
  std::string line = {};  // the evidence, as it stands in the log or the pod's status; at most 256 bytes
  model::FailureAction action = model::FailureAction::kRestart;
};

// "ROLE-INDEX", as people and files name a member.
[[nodiscard]] std::string memberName(const model::MemberEvidence& member);

// The compiled rules, for any number of gangs. Copies share them; several threads may use one at once.
class FailureClassifier {
 public:
  // Compiles `own` and, after it, the built-in rules: between two signs of one kind, an own one wins.
  // kInvalid names the rule with a pattern that is not a regular expression.
  [[nodiscard]] static base::Result<FailureClassifier> make(const std::vector<model::FailureRule>& own = {});

  // Reads at most the last kLogBytes of each log. Members that succeeded are ignored. For members that
  // still run, only their Kubernetes status counts; their logs count only if no other member names a
  // cause.
  // `enough` is polled before each text and each line; once it returns true, the rest is skipped. The reason:
  // a line that begins many patterns takes a hundred times as long as others.
  [[nodiscard]] Classification classify(std::span<const model::MemberEvidence> members,
                                        const std::function<bool()>& enough = {}) const;

 private:
  struct Impl;
  void findLaggard(std::span<const model::MemberEvidence> members, const std::vector<MemberVerdict>& verdicts,
                   Classification& result) const;
  explicit FailureClassifier(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace trainyard::core
