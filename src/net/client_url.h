#pragma once

// Internal to the client: what is accepted as a server, a proxy and a request.

#include <string>

#include "base/error.h"
#include "net/client.h"
#include "net/http.h"

namespace trainyard::net {

// Each returns kInvalid with the reason.
// Accepts "https://host:port", optionally with a final slash.
[[nodiscard]] base::Result<void> checkUrl(const ClientOptions& options);
// Accepts "http://host:port", optionally with a final slash.
[[nodiscard]] base::Result<void> checkProxy(const std::string& proxy);
[[nodiscard]] base::Result<void> checkRequest(const HttpRequest& request);

// Returns the host without the brackets around an IPv6 address.
[[nodiscard]] std::string bareHost(const std::string& url);
[[nodiscard]] bool isIpv6(const std::string& host);

// Returns the Host header if it differs from cpprestsdk's. cpprestsdk also verifies the certificate against
// it, so over TLS an IPv6 address has neither brackets nor port; API servers ignore the header.
[[nodiscard]] std::string hostHeader(const ClientOptions& options);

}  // namespace trainyard::net
