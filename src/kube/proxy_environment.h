#pragma once

#include <functional>
#include <string>

namespace trainyard::kube {

// Returns the proxy for `server` ("https://host:6443", an IPv6 host in brackets) from the environment. The
// variables have the meaning that kubectl and every Go program give them
// (golang.org/x/net/http/httpproxy):
// - $HTTPS_PROXY for https, $HTTP_PROXY for http; each in lower case if the upper-case one is unset. A value
//   without a scheme is an http:// proxy.
// - No proxy for localhost and loopback addresses, nor for the entries of $NO_PROXY, separated by commas:
//   "*"; an address or a range of addresses (10.0.0.0/8); a domain, which includes its subdomains, or only
//   these if it begins with a dot or "*."; each except a range may end in ":port".
// Returns an empty string for no proxy. `environment` returns the value of a variable, empty if
// unset.
[[nodiscard]] std::string proxyFromEnvironment(
    const std::string& server, const std::function<std::string(const std::string& name)>& environment);

}  // namespace trainyard::kube
