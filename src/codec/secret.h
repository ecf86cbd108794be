#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::codec {

// What is read of a v1 Secret.
struct Secret {
  std::string resourceVersion;
  bool renew = false;                       // annotated with kRenewAnnotation, whatever its value
  std::map<std::string, std::string> data;  // decoded
};

// On a Secret of certificates: whoever sets it asks for new ones.
inline constexpr std::string_view kRenewAnnotation = "trainyard.dev/renew";

// kInvalid names the field; never its value.
[[nodiscard]] base::Result<Secret> decodeSecret(std::string_view json);

// A merge patch that sets these keys of the data (empty texts remove theirs), leaves other keys alone, takes
// the annotation away, and is refused when the Secret is no longer at that resourceVersion.
[[nodiscard]] std::string encodeSecretPatch(std::string_view resourceVersion,
                                            const std::map<std::string, std::string>& data);

}  // namespace trainyard::codec
