#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/job.h"

// Merge patches that make an object smaller if its metadata has grown so large that no more can be written to
// it. They remove what its owner may add at any time and no Trainyard program reads.
namespace trainyard::codec {

// For a TrainingJob: removes labels, annotations, managedFields, owners and all finalizers but Trainyard's.
[[nodiscard]] std::string encodeStrippingPatch(const model::Job& job);
// For a TrainingJob that is to be deleted: removes all finalizers, so that the deletion writes nothing.
[[nodiscard]] std::string encodeFinalizersPatch(const model::Job& job);

// For a member that is to be deleted, from the text of the pod of that name: removes annotations,
// managedFields, finalizers and all labels that are not of a member. The API server refuses the patch for
// another pod than `uid`. kInvalid if the text is not an object.
[[nodiscard]] base::Result<std::string> encodeStrippingPatch(const model::Uid& uid, std::string_view pod);

}  // namespace trainyard::codec
