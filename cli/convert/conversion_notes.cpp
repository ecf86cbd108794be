#include "cli/convert/conversion_notes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/plain_text.h"

namespace trainyard::cli {

void ConversionNotes::add(Severity severity, std::string_view text) {
  std::string line = plainText(text, false);
  for (const char* separator : {"\u2028", "\u2029"}) {
    for (auto at = line.find(separator); at != std::string::npos; at = line.find(separator))
      line.replace(at, 3, " ");
  }
  Note note{severity, std::move(line)};
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(std::move(note));
}

void ConversionNotes::noteUnknown(const Json& object, const std::string& path, const std::string& shown) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    const std::string inner = fmt::format("{}.{}", path, key);
    const std::string origin = fmt::format("{}.{}", shown, key);
    if (value.is_null()) continue;
    if (!facts_.knows(inner))
      lost(fmt::format("{}: not carried over", origin));
    else if (!facts_.hasRow(inner) && !facts_.knows(inner + ".*"))  // callers handle each of several
      noteUnknown(value, inner, origin);
  }
}

std::vector<Note> ConversionNotes::take() { return std::exchange(notes_, {}); }

}  // namespace trainyard::cli
