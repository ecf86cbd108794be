#define _TURN_OFF_PLATFORM_STRING  // as in net/client_library.h, which takes longer to compile
#include "net/client_url.h"

#include <algorithm>
#include <string_view>

#include <cpprest/base_uri.h>
#include <fmt/format.h>

namespace trainyard::net {

using base::ErrorCode;
using base::fail;
using base::Result;

std::string bareHost(const std::string& url) {
  std::string host = web::uri(url).host();
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

bool isIpv6(const std::string& host) { return host.find(':') != std::string::npos; }

std::string hostHeader(const ClientOptions& options) {
  if (options.tls && !options.tls->serverName.empty()) return options.tls->serverName;
  const std::string host = bareHost(options.url);
  if (!isIpv6(host)) return {};
  if (options.url.starts_with("https")) return host;
  const web::uri url(options.url);
  return url.port() > 0 ? fmt::format("[{}]:{}", host, url.port()) : fmt::format("[{}]", host);
}

Result<void> checkUrl(const ClientOptions& options) {
  const auto invalid = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("server URL \"{}\": {}", options.url, why));
  };
  if (!web::uri::validate(options.url)) return invalid("not a URL");
  const web::uri url(options.url);
  if (url.scheme() != "http" && url.scheme() != "https") return invalid("the scheme must be http or https");
  if (url.host().empty()) return invalid("it names no host");
  if (!url.user_info().empty()) return invalid("credentials in the URL are not supported");
  if ((!url.path().empty() && url.path() != "/") || !url.query().empty() || !url.fragment().empty()) {
    return invalid("a path, query or fragment is not supported");
  }
  if (url.scheme() == "https" && !options.tls) return invalid("https needs a TLS configuration");
  return {};
}

Result<void> checkProxy(const std::string& proxy) {
  // The part before the @ may contain a password, and messages are logged.
  const auto at = proxy.rfind('@');
  const std::string shown = at == std::string::npos ? proxy : "..." + proxy.substr(at);
  const auto invalid = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("proxy \"{}\": {}", shown, why));
  };
  if (proxy.empty()) return {};
  if (!web::uri::validate(proxy)) return invalid("not a URL");
  const web::uri url(proxy);
  if (url.scheme() != "http") return invalid("the scheme must be http; others are not supported");
  if (url.host().empty()) return invalid("it names no host");
  if (isIpv6(url.host())) return invalid("an IPv6 address is not supported; use a name");
  if (!url.user_info().empty()) return invalid("credentials in the URL are not supported");
  if ((!url.path().empty() && url.path() != "/") || !url.query().empty() || !url.fragment().empty()) {
    return invalid("a path, query or fragment is not supported");
  }
  return {};
}

// A line break in a header would start another header.
Result<void> checkRequest(const HttpRequest& request) {
  if (!request.target.starts_with('/') || !web::uri::validate(request.target)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("request target \"{}\" is not a path and query", request.target));
  }
  for (const auto& [name, value] : request.headers) {
    const auto isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; };
    if (name.empty() || name.find_first_of(" :\t") != std::string::npos ||
        std::any_of(name.begin(), name.end(), isControl) ||
        std::any_of(value.begin(), value.end(), isControl)) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("header \"{}\" has characters that no header may have", name));
    }
  }
  return {};
}

}  // namespace trainyard::net
