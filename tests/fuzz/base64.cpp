#include "codec/base64.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

void base64(std::string_view input) {
  const auto back = codec::decodeBase64(codec::encodeBase64(input));
  require(back && *back == input, "bytes survive being written as base64");
  const auto bytes = codec::decodeBase64(input);
  if (!bytes) return;
  const auto again = codec::decodeBase64(codec::encodeBase64(*bytes));
  require(again && *again == *bytes, "what was read reads again as the same");
}

}  // namespace trainyard::fuzz
