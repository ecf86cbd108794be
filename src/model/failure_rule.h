#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/failure_class.h"

namespace trainyard::model {

// What a match of a rule says. Of the signs of one member the earlier kind counts for more; among members the
// same kinds tell a cause from what followed it (core/lifecycle/root_cause.h).
enum class Sign {
  kFact,         // Kubernetes says so: OOMKilled, Evicted, no image. Beats what the same member logged
  kCause,        // names what went wrong
  kDerived,      // names what went wrong here, maybe through another member: MPI_ABORT, a lost daemon
  kConsequence,  // what a member says when another one went away: time-outs, closed connections
  kSymptom,      // says that it failed and hardly of what: terminate called, an exception without a name
  kEnd,          // it was told to end: SIGTERM, SIGKILL
  // Not signs of failures but of what lines are worth.
  kNoise,     // a line that is no evidence: announces another attempt, or wraps what another line says
  kQuiet,     // a line of a low level (INFO, WARNING): evidence only for rules that say so
  kFinal,     // giving up: the line is evidence, whatever kNoise and kQuiet say
  kProgress,  // training went on
};

enum class Confidence { kLow, kMedium, kHigh };

// One way in which failures show. All conditions that are given must hold for one member; patterns are RE2
// syntax and match anywhere in their text unless they anchor themselves.
struct FailureRule {
  std::string name;
  FailureClass failure = FailureClass::kUnknown;
  Sign sign = Sign::kCause;
  int weight = 50;  // how specific: of two signs of one kind the heavier wins
  Confidence confidence = Confidence::kHigh;
  std::string log = {};             // a line of the log, or of the termination message
  std::string reason = {};          // a reason of the pod, a condition or a container
  std::string message = {};         // a message of the pod, a condition or a container
  std::vector<int> exitCodes = {};  // of a container that failed
  int signal = 0;                   // that ended a container; also as 128 + signal in exitCodes
  bool evenIfQuiet = false;         // counts in INFO and WARNING lines as well
  std::optional<FailureAction> action = std::nullopt;  // other than the class's own
  friend bool operator==(const FailureRule&, const FailureRule&) = default;
};

}  // namespace trainyard::model
