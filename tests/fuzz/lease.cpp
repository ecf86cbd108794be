#include "codec/lease.h"

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void lease(std::string_view input) {
  const auto lease = codec::decodeLease(std::string(input));
  if (!lease) return;
  const std::string text = codec::encodeLease(*lease, lease->record);
  const auto again = codec::decodeLease(text);
  require(again && again->record == lease->record, "a Lease that was written reads as the same");
  require(codec::encodeLease(*again, again->record) == text, "what others wrote is kept");
}

}  // namespace trainyard::fuzz
