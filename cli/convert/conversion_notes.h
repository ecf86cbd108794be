#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/convert/notes.h"
#include "cli/convert/system_facts.h"
#include "cli/convert/value.h"

// Only converters include this file.
namespace trainyard::cli {

// Collects the notes about one job, each once.
class ConversionNotes {
 public:
  explicit ConversionNotes(const SystemFacts& facts) : facts_(facts) {}

  // Adds a note of one line, whatever names it quotes: it becomes a comment.
  void add(Severity severity, std::string_view text);
  void kept(std::string_view text) { add(Severity::kKept, text); }
  void changed(std::string_view text) { add(Severity::kChanged, text); }
  void lost(std::string_view text) { add(Severity::kLost, text); }
  void cannotWork(std::string_view text) { add(Severity::kCannotWork, text); }
  // Notes each field that the system's table (system_facts.h) lacks, so that none is lost silently, as deep
  // as the table has rows. `path` is the field's path in the table, `shown` its path in the note.
  void noteUnknown(const Json& object, const std::string& path, const std::string& shown);

  // Returns all notes, and forgets them.
  [[nodiscard]] std::vector<Note> take();

 private:
  const SystemFacts& facts_;
  std::vector<Note> notes_;
};

}  // namespace trainyard::cli
