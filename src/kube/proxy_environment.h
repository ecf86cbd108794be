#pragma once

#include <functional>
#include <string>

namespace trainyard::kube {

// The proxy that the environment names for `server` ("https://host:6443", an IPv6 host in brackets), as
// kubectl and every Go program understand these variables (golang.org/x/net/http/httpproxy):
//  - $HTTPS_PROXY for https, $HTTP_PROXY for http, each in small letters where it is not set in large ones. A
//  value
//    without a scheme is an http:// proxy.
//  - None for localhost and loopback addresses, nor for what $NO_PROXY lists, separated by commas: "*"; an
//  address
//    or a range of them (10.0.0.0/8); a domain, which stands for its subdomains too, or for these alone where
//    it begins with a dot or "*."; each but a range may end in ":port".
// Empty where there is none. `environment` gives the value of a variable, empty when unset.
[[nodiscard]] std::string proxyFromEnvironment(
    const std::string& server, const std::function<std::string(const std::string& name)>& environment);

}  // namespace trainyard::kube
