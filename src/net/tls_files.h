#pragma once

#include <string>

#include "base/error.h"
#include "net/tls.h"

namespace trainyard::net {

// PEM files of a server.
struct TlsFiles {
  std::string certificate = {};
  std::string privateKey = {};
  std::string clientCa = {};  // no path: no client certificate is asked for
};

// kInvalid names the file that cannot be read or is empty.
[[nodiscard]] base::Result<TlsServerConfig> readTlsFiles(const TlsFiles& files);

}  // namespace trainyard::net
