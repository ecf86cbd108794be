#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "model/progress.h"

namespace trainyard::codec {

// Marks a report in any line of a member's log; the report follows as JSON: docs/progress.md.
inline constexpr std::string_view kProgressMark = "trainyard-progress:";
// A longer line is not a report: reading a program's output must not cost more than its information is worth.
inline constexpr std::size_t kLongestReport = std::size_t{64} << 10;

// Merges the report in the line into `progress`: a given value replaces the old one, an absent one leaves it
// unchanged, and an unusable value (negative, out of bounds, another type) counts as absent. `at` is when the
// line was printed; a checkpoint cannot be later. Returns true if the line is a report with at least one
// usable value.
[[nodiscard]] bool readReport(std::string_view line, base::WallTime at, model::Progress& progress);

// The end of a member's log, with a time before every line.
struct LogTail {
  bool reported = false;
  std::optional<base::WallTime> lastLine = std::nullopt;  // nullopt if no line has a time
  std::size_t fingerprint = 0;                            // of the last line: equal if nothing was appended
};

// Merges all reports into `progress`, in their order. Reports older than `after` are skipped, so that none is
// read twice. Times later than `now` count as `now`, because the clocks of nodes differ.
[[nodiscard]] LogTail readLogTail(std::string_view log, base::WallTime after, base::WallTime now,
                                  model::Progress& progress);

}  // namespace trainyard::codec
