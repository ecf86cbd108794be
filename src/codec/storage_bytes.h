#pragma once

#include <cstdint>

#include "codec/field.h"

namespace trainyard::codec {

// Larger than any volume, and small enough to add several of them: amounts are compared, and some are summed.
inline constexpr std::int64_t kMaxStorageBytes = std::int64_t{1} << 53;

enum class StorageRounding { kUp, kDown };

// Returns the bytes of a storage quantity; 0 if absent. The API server accepts larger quantities than
// base::Quantity ("9Ei"); they are read as kMaxStorageBytes, so that their object is not lost. A claim or
// pod that cannot be read would be missing from the count of used capacity.
[[nodiscard]] std::int64_t readStorageBytes(const Field& quantity, StorageRounding rounding);

}  // namespace trainyard::codec
