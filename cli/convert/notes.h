#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

// How much of its meaning a part of the original job keeps.
enum class Severity {
  kKept,        // the same effect, by what the note names
  kChanged,     // works, but differently
  kLost,        // left out
  kCannotWork,  // refused as it is written, or the program would miss something that it needs
};

// One line about a part of the original job.
struct Note {
  Severity severity = Severity::kKept;
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

// "kept", "changed", "lost", "cannot work".
[[nodiscard]] std::string_view toString(Severity severity);

// Returns the exit status of `trainyard convert`: 0 if everything keeps its meaning, 3 if something changed
// or is lost, 4 if something cannot work as it is written.
[[nodiscard]] int exitStatusOf(Severity worst);

}  // namespace trainyard::cli
