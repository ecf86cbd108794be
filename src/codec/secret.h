#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::codec {

// The parts of a v1 Secret that are read.
struct Secret {
  std::string resourceVersion;
  bool renew = false;                       // has kRenewAnnotation, with any value
  std::map<std::string, std::string> data;  // decoded
};

// Set on a Secret of certificates, it requests new ones.
inline constexpr std::string_view kRenewAnnotation = "trainyard.dev/renew";

// kInvalid names the field; never its value.
[[nodiscard]] base::Result<Secret> decodeSecret(std::string_view json);

// A merge patch that sets these keys of the data, removes keys with empty texts, and keeps all others. It
// removes the annotation. The API server refuses it if the Secret has another resourceVersion.
[[nodiscard]] std::string encodeSecretPatch(std::string_view resourceVersion,
                                            const std::map<std::string, std::string>& data);

}  // namespace trainyard::codec
