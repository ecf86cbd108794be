#pragma once

#include <string_view>

#include "base/error.h"
#include "model/device.h"

namespace trainyard::codec {

// Objects of resource.k8s.io/v1.
[[nodiscard]] base::Result<model::ResourceSlice> decodeResourceSlice(std::string_view json);
[[nodiscard]] base::Result<model::DeviceClass> decodeDeviceClass(std::string_view json);
[[nodiscard]] base::Result<model::ResourceClaimTemplate> decodeResourceClaimTemplate(std::string_view json);
[[nodiscard]] base::Result<model::ResourceClaim> decodeResourceClaim(std::string_view json);

}  // namespace trainyard::codec
