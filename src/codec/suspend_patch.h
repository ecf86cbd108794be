#pragma once

#include <string>
#include <string_view>

#include "model/ids.h"

namespace trainyard::codec {

// The merge patch that sets `suspend` in the object at `path` ("spec", "spec.runPolicy"). An object of
// another uid is refused (kConflict).
[[nodiscard]] std::string encodeSuspendPatch(const model::Uid& uid, std::string_view path, bool suspend);

}  // namespace trainyard::codec
