#pragma once

#include <string>

#include "base/error.h"
#include "net/tls.h"

namespace trainyard::extender {

struct TlsFiles {
  std::string certificate;
  std::string privateKey;
  std::string clientCa;
};

// kInvalid names the file that cannot be read or is empty.
[[nodiscard]] base::Result<net::TlsServerConfig> readTlsFiles(const TlsFiles& files);

}  // namespace trainyard::extender
