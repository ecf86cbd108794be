#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/lifecycle/rule_book.h"
#include "model/member_evidence.h"

namespace trainyard::core {

// A line of a member's log with the rules that matched it.
struct MarkedLine {
  std::string text;
  std::vector<int> signs = {};  // numbers of the rules that match it as a sign of a failure
  bool continued = false;       // training, or the sign of another failure, follows it
  int laterLines = 0;           // number of ordinary lines that follow it: a measure of its age
  bool evidence = true;         // false: none of its signs counts, for the reasons below
  bool quiet = false;           // a low log level: only rules with evenIfQuiet count
};

// Reads the end of the log and the termination messages, and marks the evidence. A line is no evidence if it
// - announces another attempt or wraps the message of another line;
// - is source code that a traceback shows, which may mention anything;
// - belongs to a traceback that was logged as a warning, and the program continued after it;
// - is followed by training: the program outlived it.
[[nodiscard]] std::vector<MarkedLine> markLines(const model::MemberEvidence& member, const BookReading& book);

}  // namespace trainyard::core
