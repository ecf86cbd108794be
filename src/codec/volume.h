#pragma once

#include <string_view>

#include "base/error.h"
#include "model/volume.h"

namespace trainyard::codec {

[[nodiscard]] base::Result<model::VolumeClaim> decodeVolumeClaim(std::string_view json);
[[nodiscard]] base::Result<model::Volume> decodeVolume(std::string_view json);
[[nodiscard]] base::Result<model::CsiDriver> decodeCsiDriver(std::string_view json);
[[nodiscard]] base::Result<model::CsiNode> decodeCsiNode(std::string_view json);
[[nodiscard]] base::Result<model::StorageClass> decodeStorageClass(std::string_view json);

}  // namespace trainyard::codec
