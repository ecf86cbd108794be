#include "codec/secret.h"

#include <catch2/catch.hpp>

namespace trainyard::codec {
namespace {

TEST_CASE("A Secret's data is decoded") {
  const auto secret = decodeSecret(
      R"({"metadata":{"resourceVersion":"7"},"data":{"tls.crt":"eA==","empty":""},"type":"Opaque"})");
  REQUIRE(secret);
  CHECK(secret->resourceVersion == "7");
  CHECK_FALSE(secret->renew);
  CHECK(secret->data == std::map<std::string, std::string>{{"tls.crt", "x"}, {"empty", ""}});
}

TEST_CASE("A Secret without data is empty and its annotation counts with any value") {
  const auto secret =
      decodeSecret(R"({"metadata":{"resourceVersion":"7","annotations":{"trainyard.dev/renew":""}}})");
  REQUIRE(secret);
  CHECK(secret->renew);
  CHECK(secret->data.empty());
}

TEST_CASE("An unreadable Secret is refused without its value") {
  const auto secret = decodeSecret(R"({"metadata":{"resourceVersion":"7"},"data":{"tls.key":"se?cret"}})");
  REQUIRE_FALSE(secret);
  CHECK(secret.error().message == "Secret: data[tls.key]: is not base64");
  CHECK_FALSE(decodeSecret(R"({"metadata":{}})"));
  CHECK_FALSE(decodeSecret(R"({"metadata":{"resourceVersion":"7"},"data":[]})"));
  CHECK_FALSE(decodeSecret("nonsense"));
}

TEST_CASE("A patch sets and removes keys and is guarded by the version") {
  CHECK(encodeSecretPatch("7", {{"a", "x"}, {"b", ""}}) ==
        R"({"metadata":{"resourceVersion":"7","annotations":{"trainyard.dev/renew":null}},)"
        R"("data":{"a":"eA==","b":null}})");
}

}  // namespace
}  // namespace trainyard::codec
