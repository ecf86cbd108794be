#pragma once

#include <cstdint>

#include "codec/field.h"

namespace trainyard::codec {

// More than any volume has. Amounts are compared with each other, and some are summed.
inline constexpr std::int64_t kMostStorageBytes = std::int64_t{1} << 53;

enum class StorageRounding { kUp, kDown };

// The bytes of a storage quantity; 0 when absent. The API server takes larger quantities than base::Quantity
// counts ("9Ei"): they are kMostStorageBytes, so that the object that names one is read all the same. A claim
// or pod that is not read would be missing where places are counted.
[[nodiscard]] std::int64_t readStorageBytes(const Field& quantity, StorageRounding rounding);

}  // namespace trainyard::codec
