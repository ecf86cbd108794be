#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

// How much of its meaning a part of the original keeps.
enum class Severity {
  kKept,        // the same, by what the note names
  kChanged,     // works, but not in the same way
  kLost,        // left out
  kCannotWork,  // refused as it is written, or the program would miss what it needs
};

// One line about a part of the original.
struct Note {
  Severity severity = Severity::kKept;
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

// "kept", "changed", "lost", "cannot work".
[[nodiscard]] std::string_view toString(Severity severity);

// kKept without notes.
[[nodiscard]] Severity worstOf(const std::vector<Note>& notes);

// Exit status of `trainyard convert`: 0 where all keeps its meaning, 3 where something changed or is lost, 4
// where something cannot work as it is written.
[[nodiscard]] int exitStatusOf(Severity worst);

}  // namespace trainyard::cli
