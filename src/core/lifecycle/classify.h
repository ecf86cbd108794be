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
  std::string rule = {};  // by whose name it is known; empty for kUnknown
  std::optional<std::size_t> root =
      std::nullopt;  // which of the members failed first, or brought the others down
  model::Confidence confidence = model::Confidence::kLow;
  std::string note = {};  // of a time-out that many report: what shows which member caused it
  std::string line = {};  // what tells it, as it stands in the log or the pod's status; at most 256 bytes
  model::FailureAction action = model::FailureAction::kRestart;
};

// "ROLE-INDEX", as people and files name a member.
[[nodiscard]] std::string memberName(const model::MemberEvidence& member);

// The rules, made ready once for any number of gangs. Copies share; may be used by several threads at once.
class FailureClassifier {
 public:
  // The built-in rules, and before them `own`: where two signs of one kind meet, an own one wins. kInvalid
  // names the rule whose pattern is no expression.
  [[nodiscard]] static base::Result<FailureClassifier> make(const std::vector<model::FailureRule>& own = {});

  // Reads at most the last kLogBytes of each log, whatever they hold. Members that ended well count for
  // nothing; of those that still run only what Kubernetes says, and their logs where nobody else tells a
  // cause.
  // `enough` is asked before each text and each line; once it says so the rest is left out: a line that
  // begins many patterns takes a hundred times as long as others.
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
