#pragma once

#include <string>

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// A hash over all inputs of the job's pods: the framework, and the name, replicas and template of each role.
// Templates are hashed as canonical JSON, so that spacing and the order of members do not matter. 32
// hexadecimal digits.
//
// FNV-1a of 128 bits: it compares versions of one user's own job, so it must exclude accidental collisions,
// not attacks, and needs no cryptographic library. Changing the hash restarts no gang, but aborts the
// proposals that are in progress during the update.
[[nodiscard]] std::string templateHash(const Field& spec, const model::JobSpec& decoded);

}  // namespace trainyard::codec
