#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/lifecycle/rule_book.h"
#include "model/member_evidence.h"

namespace trainyard::core {

// A line of a member's log with what the rules say of it.
struct MarkedLine {
  std::string text;
  std::vector<int> signs = {};  // rules that take it for a sign of a failure
  bool wentOn = false;          // training, or the sign of another failure, stands behind it
  int laterLines = 0;           // ordinary lines behind it: so much happened since
  bool evidence = true;         // false: none of its signs counts, for the reasons below
  bool quiet = false;           // of a low level: only rules that say so count
};

// Reads the end of the log and the termination messages, and tells what is evidence. None is a line that
// - announces another attempt or wraps what another line says;
// - is source code that a traceback shows, which may mention anything;
// - belongs to a traceback that was logged as a warning, when the program went on behind it;
// - has training behind it: whatever it was, it did not end the program.
[[nodiscard]] std::vector<MarkedLine> markLines(const model::MemberEvidence& member, const BookReading& book);

}  // namespace trainyard::core
