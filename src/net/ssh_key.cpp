#include "net/ssh_key.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "net/openssl.h"

namespace trainyard::net {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::string_view kType = "ssh-ed25519";
constexpr std::size_t kLineLength = 70;

using Bytes = std::array<unsigned char, kKeyBytes>;

void addNumber(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((number >> shift) & 0xFFU);
}

// Appends a text preceded by its length, as in SSH's protocol.
void addText(std::string& out, std::string_view text) {
  addNumber(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::string_view asText(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string publicBlob(const Bytes& publicKey) {
  std::string blob;
  addText(blob, kType);
  addText(blob, asText(publicKey));
  return blob;
}

// Encodes "openssh-key-v1" of OpenSSH's PROTOCOL.key, unencrypted: PKCS #8 with Ed25519 needs OpenSSH 8.x.
std::string privateBlob(const Bytes& secret, const Bytes& publicKey, std::uint32_t check,
                        std::string_view comment) {
  std::string inside;
  addNumber(inside, check);
  addNumber(inside, check);
  addText(inside, kType);
  addText(inside, asText(publicKey));
  std::string both(asText(secret));
  both += asText(publicKey);
  addText(inside, both);
  addText(inside, comment);
  constexpr std::size_t kBlock = 8;
  for (char pad = 1; inside.size() % kBlock != 0; ++pad) inside += pad;

  std::string blob("openssh-key-v1\0", 15);
  addText(blob, "none");
  addText(blob, "none");
  addText(blob, "");
  addNumber(blob, 1);
  addText(blob, publicBlob(publicKey));
  addText(blob, inside);
  OPENSSL_cleanse(inside.data(), inside.size());
  OPENSSL_cleanse(both.data(), both.size());
  return blob;
}

}  // namespace

base::Result<SshKey> makeSshKey(std::string_view comment) {
  const auto refuse = [] {
    return base::fail(base::ErrorCode::kInternal, "no ssh key could be made: " + takeOpensslError());
  };
  const KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  Bytes secret{};
  Bytes publicKey{};
  std::size_t secretSize = secret.size();
  std::size_t publicSize = publicKey.size();
  std::uint32_t check = 0;
  const bool made = key && EVP_PKEY_get_raw_private_key(key.get(), secret.data(), &secretSize) == 1 &&
                    EVP_PKEY_get_raw_public_key(key.get(), publicKey.data(), &publicSize) == 1 &&
                    RAND_bytes(reinterpret_cast<unsigned char*>(&check), sizeof check) == 1;
  if (!made || secretSize != kKeyBytes || publicSize != kKeyBytes) return refuse();

  SshKey result;
  std::string text = base64(privateBlob(secret, publicKey, check, comment));
  result.privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  for (std::size_t at = 0; at < text.size(); at += kLineLength) {
    result.privateKey += text.substr(at, kLineLength);
    result.privateKey += '\n';
  }
  result.privateKey += "-----END OPENSSH PRIVATE KEY-----\n";
  result.publicLine = fmt::format("{} {} {}", kType, base64(publicBlob(publicKey)), comment);
  OPENSSL_cleanse(secret.data(), secret.size());
  OPENSSL_cleanse(text.data(), text.size());
  return result;
}

}  // namespace trainyard::net
