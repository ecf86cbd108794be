#include "net/listen_address.h"

#include <catch2/catch.hpp>

namespace trainyard::net::test {
namespace {

TEST_CASE("listen addresses: host and port") {
  const auto hostOf = [](const char* text) { return parseListenAddress(text).value().host; };
  CHECK(hostOf("127.0.0.1:8080") == "127.0.0.1");
  CHECK(hostOf("[::1]:8080") == "::1");
  CHECK(hostOf(":8080") == "0.0.0.0");
  CHECK(parseListenAddress("[::]:65535").value().port == 65535);
}

TEST_CASE("listen addresses: anything else is refused with its text") {
  for (const char* text : {"", "8080", "h:", "h:-1", "h:65536", "h:8o", "::1:80", "[::1:80", "::1]:80",
                           "[[::1]]:80", "[]:80", "[h]:80", "[:80"}) {
    CAPTURE(text);
    const auto refused = parseListenAddress(text);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Catch::StartsWith("listen address \"" + std::string(text) + "\": "));
  }
}

}  // namespace
}  // namespace trainyard::net::test
