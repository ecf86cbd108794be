#pragma once

#include <string>

#include "base/error.h"
#include "net/tls.h"

namespace trainyard::net {

// The paths of a server's PEM files.
struct TlsFiles {
  std::string certificate = {};
  std::string privateKey = {};
  std::string clientCa = {};  // empty: no client certificate is required
};

// kInvalid names the file that is unreadable or empty.
[[nodiscard]] base::Result<TlsServerConfig> readTlsFiles(const TlsFiles& files);

}  // namespace trainyard::net
