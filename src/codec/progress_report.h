#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "model/progress.h"

namespace trainyard::codec {

// In any line of a member's log, with the report as JSON behind it: docs/progress.md.
inline constexpr std::string_view kProgressMark = "trainyard-progress:";
// A longer line is no report: what a program prints must not cost more to read than it can tell.
inline constexpr std::size_t kLongestReport = std::size_t{64} << 10;

// Takes what the line tells into `progress`: what it gives replaces what was there, what it does not give
// stays, and a field with an unusable value (negative, beyond all bounds, another type) counts as not given.
// `at` is when it was printed; a checkpoint cannot be later. Returns whether the line is a report with
// anything usable.
[[nodiscard]] bool readReport(std::string_view line, base::WallTime at, model::Progress& progress);

// The end of a member's log, read with the time of every line.
struct LogTail {
  bool reported = false;
  std::optional<base::WallTime> lastLine = std::nullopt;  // nothing where no line has a time
  std::size_t fingerprint = 0;                            // of the last line: equal where nothing was added
};

// All reports of it go into `progress`, in their order; none that is older than `after`, so that what was
// read before is not read again. Times later than `now` count as `now`: nodes have clocks of their own.
[[nodiscard]] LogTail readLogTail(std::string_view log, base::WallTime after, base::WallTime now,
                                  model::Progress& progress);

}  // namespace trainyard::codec
