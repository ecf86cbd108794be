#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::net {

struct SshKey {
  std::string privateKey;  // OpenSSH's file format, without a passphrase
  std::string publicLine;  // "ssh-ed25519 BASE64 comment"
};

// Generates an Ed25519 key. The comment must not contain blanks. kInternal with OpenSSL's message.
[[nodiscard]] base::Result<SshKey> makeSshKey(std::string_view comment);

}  // namespace trainyard::net
