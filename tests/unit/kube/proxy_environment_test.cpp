#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "kube/proxy_environment.h"

namespace trainyard::kube {
namespace {

std::string proxyFor(const std::string& server, const std::map<std::string, std::string>& environment) {
  return proxyFromEnvironment(server, [&](const std::string& name) {
    const auto at = environment.find(name);
    return at == environment.end() ? std::string() : at->second;
  });
}

// Returns true if $NO_PROXY excludes a server from the proxy.
bool isDirect(const std::string& list, const std::string& server) {
  return proxyFor(server, {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", list}}).empty();
}

TEST_CASE("the environment's proxy is that of the server's scheme") {
  const std::string server = "https://api.example.com:6443";
  CHECK(proxyFor(server, {}).empty());
  CHECK(proxyFor(server, {{"HTTPS_PROXY", "http://p:3128"}}) == "http://p:3128");
  CHECK(proxyFor(server, {{"https_proxy", "p:3128"}}) == "http://p:3128");
  CHECK(proxyFor(server, {{"HTTPS_PROXY", "http://a:1"}, {"https_proxy", "http://b:1"}}) == "http://a:1");
  CHECK(proxyFor(server, {{"HTTPS_PROXY", " "}, {"https_proxy", "http://b:1"}}) == "http://b:1");
  CHECK(proxyFor(server, {{"HTTP_PROXY", "http://p:3128"}}).empty());
  CHECK(proxyFor("http://api:8080", {{"http_proxy", "http://p:3128"}}) == "http://p:3128");
  // The HTTP client refuses another scheme by name.
  CHECK(proxyFor(server, {{"HTTPS_PROXY", "socks5://p:1080"}}) == "socks5://p:1080");
}

TEST_CASE("servers on this machine are contacted directly") {
  for (const char* server : {"https://localhost:6443", "https://LOCALHOST", "https://127.0.0.1:6443",
                             "https://127.8.9.1", "https://[::1]:6443"}) {
    INFO(server);
    CHECK(isDirect("", server));
  }
  CHECK_FALSE(isDirect("", "https://128.0.0.1:6443"));
}

TEST_CASE("NO_PROXY names domains") {
  CHECK(isDirect("example.com", "https://example.com:6443"));
  CHECK(isDirect("example.com", "https://api.Example.com:6443"));
  CHECK(isDirect("other, EXAMPLE.com ,", "https://api.example.com:6443"));
  CHECK_FALSE(isDirect("example.com", "https://badexample.com"));
  CHECK_FALSE(isDirect("ample.com", "https://example.com"));
  CHECK(isDirect(".example.com", "https://api.example.com"));
  CHECK(isDirect("*.example.com", "https://api.example.com"));
  CHECK_FALSE(isDirect(".example.com", "https://example.com"));
  CHECK(isDirect("*", "https://api.example.com"));
  CHECK_FALSE(isDirect("", "https://api.example.com"));
  CHECK_FALSE(isDirect(", ,", "https://api.example.com"));
}

TEST_CASE("NO_PROXY names addresses and ranges and ports") {
  CHECK(isDirect("10.0.0.1", "https://10.0.0.1:6443"));
  CHECK_FALSE(isDirect("10.0.0.1", "https://10.0.0.11:6443"));
  CHECK(isDirect("10.96.0.0/12", "https://10.111.255.255:443"));
  CHECK_FALSE(isDirect("10.96.0.0/12", "https://10.112.0.0:443"));
  CHECK_FALSE(isDirect("10.96.0.0/12", "https://api.example.com"));
  CHECK(isDirect("0.0.0.0/0", "https://8.8.8.8"));
  CHECK_FALSE(isDirect("0.0.0.0/0", "https://[fd00::1]:6443"));
  CHECK(isDirect("fd00::/8", "https://[fd00::1]:6443"));
  CHECK(isDirect("[fd00::1]:6443", "https://[fd00::1]:6443"));
  CHECK(isDirect("fd00::1", "https://[fd00::1]:6443"));
  CHECK(isDirect("example.com:443", "https://api.example.com"));
  CHECK_FALSE(isDirect("example.com:443", "https://api.example.com:6443"));
  for (const char* odd :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/8x", "/8", "10.0.0.0/-1", "[", "[]", ":", "*."}) {
    INFO(odd);
    CHECK_FALSE(isDirect(odd, "https://10.0.0.1:6443"));
  }
}

}  // namespace
}  // namespace trainyard::kube
