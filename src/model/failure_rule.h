#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/failure_class.h"

namespace trainyard::model {

// What a match of a rule means. Between signs of one member, the earlier kind counts for more. Between
// members, the kinds separate a cause from its consequences (core/lifecycle/root_cause.h).
enum class Sign {
  kFact,         // from Kubernetes: OOMKilled, Evicted, no image. Outranks all log lines of the same member
  kCause,        // names what went wrong
  kDerived,      // names what went wrong here, maybe through another member: MPI_ABORT, a lost daemon
  kConsequence,  // a member's reaction to the end of another one: time-outs, closed connections
  kSymptom,      // shows a failure but hardly its cause: terminate called, an exception without a name
  kEnd,          // it was asked to end: SIGTERM, SIGKILL
  // The rest are no signs of failures; they grade lines as evidence.
  kNoise,     // no evidence: announces another attempt, or wraps the message of another line
  kQuiet,     // a low level (INFO, WARNING): evidence only for rules with evenIfQuiet
  kFinal,     // giving up: the line is evidence, whatever kNoise and kQuiet match
  kProgress,  // training continued
};

enum class Confidence { kLow, kMedium, kHigh };

// One way in which failures appear. All given conditions must hold for one member; patterns have RE2 syntax
// and match anywhere in their text unless they are anchored.
struct FailureRule {
  std::string name;
  FailureClass failure = FailureClass::kUnknown;
  Sign sign = Sign::kCause;
  int weight = 50;  // how specific: between two signs of one kind the heavier wins
  Confidence confidence = Confidence::kHigh;
  std::string log = {};             // a line of the log, or of the termination message
  std::string reason = {};          // a reason of the pod, a condition or a container
  std::string message = {};         // a message of the pod, a condition or a container
  std::vector<int> exitCodes = {};  // exit codes of a failed container
  int signal = 0;                   // the signal that ended a container; also as 128 + signal in exitCodes
  bool evenIfQuiet = false;         // counts in INFO and WARNING lines as well
  std::optional<FailureAction> action = std::nullopt;  // overrides the class's own
  friend bool operator==(const FailureRule&, const FailureRule&) = default;
};

}  // namespace trainyard::model
