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

// The number of sizes of a job that are kept.
inline constexpr std::size_t kMaxSpeeds = 16;

// Records the speed in a report for the size that it was made with in status.resize.speeds. The first entry
// is the size that was seen last.
//
// Assumes: each report is passed once. Steps: 1 ignore a report without speed or without its number of
// members, or with more members than `most` (a job could report any number); 2 a known size moves by a
// quarter of the way to the reported speed (exponential smoothing: one slow step has little effect, and a
// drift is followed within some ten reports; rejected: a mean over all reports, which never forgets a slow
// beginning, and needs a count beside it), a new size takes the reported speed; 3 beyond kMaxSpeeds sizes,
// drop the one that was not seen for longest.
void noteSpeed(const model::Progress& report, int most, std::vector<model::SpeedPoint>& speeds);

// The metric by which a job reports how long none of its members trained during the resize to the size in the
// report.
inline constexpr std::string_view kPauseFigure = "pauseMillis";
// The number of pauses that are kept.
inline constexpr std::size_t kMaxPauses = 8;
// Records the pause in status.resize.lastPauseMilliseconds if the report is the first one of another size
// than `last`, and its figure differs: a figure that a report omits keeps its former value.
void notePause(const model::Progress* last, const model::Progress& report,
               std::vector<std::int64_t>& lastPauseMillis);

// The expected speed of the job with this many members, in thousandths of a sample a second, by its reports
// or its owner's declaration (core/resize/speed_curve.h). Returns nullopt if neither exists. Assumes that its
// members are placed as its record states.
[[nodiscard]] std::optional<double> expectedSpeed(const model::Job& job, int members,
                                                  const std::vector<model::ShapeCost>& costs);

}  // namespace trainyard::core
