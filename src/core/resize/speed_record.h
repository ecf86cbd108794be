#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "model/policy.h"
#include "model/progress.h"
#include "model/resize.h"

namespace trainyard::core {

// So many sizes of a job are remembered.
inline constexpr std::size_t kMostSpeeds = 16;

// Takes what a report tells of the size that it was made with into status.resize.speeds, whose first entry is
// the size that was seen last.
//
// Assumes: each report is given once. Steps: 1 a report without speed or without its number of members, or
// with more of them than `most` (the job could name any), tells nothing; 2 a size that is known moves by a
// quarter of the way to what is reported (exponential smoothing: one slow step is not all there is, and a
// drift is followed within some ten reports; lost: a mean over all reports, which never forgets a slow
// beginning, and needs a count beside it), another one is taken as it is reported; 3 of more than kMostSpeeds
// sizes the one goes that was not seen for longest.
void noteSpeed(const model::Progress& report, int most, std::vector<model::SpeedPoint>& speeds);

// The figure of a report by which a job tells how long none of its members trained when it got the size that
// the report is of.
inline constexpr std::string_view kPauseFigure = "pauseMillis";
// So many pauses are remembered.
inline constexpr std::size_t kMostPauses = 8;
// Takes it into status.resize.lastPauseMilliseconds, if the report is the first one of another size than
// `last` was of, and says something new: figures that a report does not give stay as they were.
void notePause(const model::Progress* last, const model::Progress& report,
               std::vector<std::int64_t>& lastPauseMillis);

// How fast the job was to be with so many members, in thousandths of a sample a second, by what it had
// reported or its owner declared (core/resize/speed_curve.h); nothing where nothing was known. Assumes that
// its members lie as its record says.
[[nodiscard]] std::optional<double> expectedSpeed(const model::Job& job, int members,
                                                  const std::vector<model::ShapeCost>& costs);

}  // namespace trainyard::core
