#include "codec/storage_bytes.h"

#include <algorithm>
#include <string>

#include "base/quantity.h"

namespace trainyard::codec {

std::int64_t readStorageBytes(const Field& quantity, StorageRounding rounding) {
  if (!quantity.present()) return 0;
  const auto text = quantity.value().string();
  // A number, or a value that is not a quantity; the latter is a complaint.
  const auto amount = text ? base::Quantity::parse(*text) : base::Result<base::Quantity>(quantity.quantity());
  if (!amount) return kMaxStorageBytes;
  const std::int64_t bytes =
      rounding == StorageRounding::kUp ? amount->unitsRoundedUp() : amount->unitsRoundedDown();
  return std::clamp<std::int64_t>(bytes, 0, kMaxStorageBytes);
}

}  // namespace trainyard::codec
