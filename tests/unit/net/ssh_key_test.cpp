#include "net/ssh_key.h"

#include <openssl/evp.h>
#include <catch2/catch.hpp>

using namespace trainyard;

namespace {

std::string decoded(std::string text) {
  std::erase(text, '\n');
  std::string bytes(text.size(), '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  REQUIRE(length >= 0);
  bytes.resize(static_cast<std::size_t>(length));
  return bytes;
}

// Reads the type that SSH's protocol calls a string.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t number() {
    std::uint32_t value = 0;
    for (const char c : take(4)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view text() { return take(number()); }
  std::string_view take(std::size_t count) {
    REQUIRE(bytes_.size() >= count);
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  [[nodiscard]] std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace

TEST_CASE("an ssh key is a file as OpenSSH reads it and its public half matches it") {
  const auto key = net::makeSshKey("trainyard");
  REQUIRE(key);
  const std::string begin = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  const std::string end = "-----END OPENSSH PRIVATE KEY-----\n";
  REQUIRE(key->privateKey.starts_with(begin));
  REQUIRE(key->privateKey.ends_with(end));
  const std::string file =
      decoded(key->privateKey.substr(begin.size(), key->privateKey.size() - begin.size() - end.size()));
  Reader outer(file);
  CHECK(outer.take(15) == std::string_view("openssh-key-v1\0", 15));
  CHECK(outer.text() == "none");
  CHECK(outer.text() == "none");
  CHECK(outer.text().empty());
  CHECK(outer.number() == 1);
  const std::string_view publicBlob = outer.text();
  const std::string_view inside = outer.text();
  CHECK(inside.size() % 8 == 0);
  Reader inner(inside);
  CHECK(inner.number() == inner.number());
  CHECK(inner.text() == "ssh-ed25519");
  const std::string_view publicKey = inner.text();
  const std::string_view both = inner.text();
  REQUIRE(both.size() == 64);
  CHECK(both.substr(32) == publicKey);
  CHECK(inner.text() == "trainyard");
  CHECK(std::string_view("\1\2\3\4\5\6\7").starts_with(inner.rest()));

  const std::string line = key->publicLine;
  REQUIRE(line.starts_with("ssh-ed25519 "));
  CHECK(line.ends_with(" trainyard"));
  // 51 bytes: no padding.
  CHECK(decoded(line.substr(12, 68)) == publicBlob);

  EVP_PKEY* made = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                                reinterpret_cast<const unsigned char*>(both.data()), 32);
  REQUIRE(made != nullptr);
  std::string derived(32, '\0');
  std::size_t size = derived.size();
  CHECK(EVP_PKEY_get_raw_public_key(made, reinterpret_cast<unsigned char*>(derived.data()), &size) == 1);
  EVP_PKEY_free(made);
  CHECK(derived == publicKey);
}

TEST_CASE("no two ssh keys are the same") {
  CHECK(net::makeSshKey("a")->publicLine != net::makeSshKey("a")->publicLine);
}
