#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::codec {

// The fields of a coordination.k8s.io/v1 Lease that the election reads and writes. Times stay texts: they are
// compared for equality, never for order.
struct LeaseRecord {
  std::string holderIdentity = {};  // empty: released
  std::int64_t leaseDurationSeconds = 0;
  std::string acquireTime = {};
  std::string renewTime = {};
  std::int64_t leaseTransitions = 0;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

struct Lease {
  LeaseRecord record;
  std::string text;  // the whole object, for a PUT that keeps the fields of other writers
};

// kInvalid names the field.
[[nodiscard]] base::Result<Lease> decodeLease(std::string text);
[[nodiscard]] std::string encodeNewLease(std::string_view ns, std::string_view name,
                                         const LeaseRecord& record);
// Encodes `lease` with another record: metadata, including resourceVersion, and foreign spec fields stay.
[[nodiscard]] std::string encodeLease(const Lease& lease, const LeaseRecord& record);

}  // namespace trainyard::codec
