#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::net {

struct SshKey {
  std::string privateKey;  // a file of OpenSSH's, without a passphrase
  std::string publicLine;  // "ssh-ed25519 BASE64 comment"
};

// A new Ed25519 key. The comment is one word. kInternal with OpenSSL's words.
[[nodiscard]] base::Result<SshKey> makeSshKey(std::string_view comment);

}  // namespace trainyard::net
