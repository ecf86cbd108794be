#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/job.h"

// Merge patches that make an object smaller, of which its owner has made so much that nothing more can be
// written of it: what he may add at any time goes, and nothing that a program of ours reads.
namespace trainyard::codec {

// Of a TrainingJob: labels, annotations, and who wrote which field.
[[nodiscard]] std::string encodeStrippingPatch(const model::Job& job);

// Of a member that is to end, from the text of the pod that has its name: labels that are no member's,
// annotations, and who wrote which field. Another pod than `uid` is refused by the API server. kInvalid when
// it is no object.
[[nodiscard]] base::Result<std::string> encodeStrippingPatch(const model::Uid& uid, std::string_view pod);

}  // namespace trainyard::codec
