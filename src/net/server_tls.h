#pragma once

// Internal to the server: its TLS side.

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "base/error.h"
#include "net/tls.h"

namespace trainyard::net {

// kInvalid when the PEM texts do not fit together.
[[nodiscard]] base::Result<std::shared_ptr<boost::asio::ssl::context>> makeServerTlsContext(
    const TlsServerConfig& config);

// Of the verified certificate of the other side; empty without one.
[[nodiscard]] std::string commonNameOf(SSL* ssl);

}  // namespace trainyard::net
