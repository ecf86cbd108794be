#pragma once

#include <cstddef>
#include <vector>

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

}  // namespace trainyard::core
