#pragma once

#include <string>

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// Over everything that decides how the job's pods look: framework, and per role name, number and template,
// the latter as canonical JSON so that neither spacing nor the order of members counts. 32 hexadecimal
// digits.
//
// FNV-1a of 128 bits: what is compared are versions of one user's own job, so accidents are to be ruled out,
// not attackers, and no cryptographic library is pulled in here. Changing it restarts nothing, but aborts the
// proposals that are under way during the update.
[[nodiscard]] std::string templateHash(const Field& spec, const model::JobSpec& decoded);

}  // namespace trainyard::codec
