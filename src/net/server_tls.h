#pragma once

// Internal to the server: its TLS configuration.

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "base/error.h"
#include "net/tls.h"

namespace trainyard::net {

// kInvalid if the PEM texts do not match.
[[nodiscard]] base::Result<std::shared_ptr<boost::asio::ssl::context>> makeServerTlsContext(
    const TlsServerConfig& config);

// Returns the common name of the peer's verified certificate; empty if it has none.
[[nodiscard]] std::string commonNameOf(SSL* ssl);

}  // namespace trainyard::net
