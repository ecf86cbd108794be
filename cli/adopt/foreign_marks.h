#pragma once

#include "cli/adopt/adoption.h"

namespace trainyard::cli {

// Removes what would have another scheduler place the pods, or another manager hold back the object: names of
// schedulers, labels and annotations. Remembers what Trainyard has an equivalent of, and notes the rest.
void takeForeignMarks(Adoption& adoption);

}  // namespace trainyard::cli
