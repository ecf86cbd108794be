#include "launch/proofs.h"

extern "C" {  // constant_time.h has no linkage specification
#include <mbedtls/constant_time.h>
#include <mbedtls/md.h>
}

#include <cstddef>

namespace trainyard::launch {
namespace {

constexpr std::size_t kDigest = 32;

const unsigned char* bytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string hmacSha256(std::string_view key, std::string_view data) {
  std::string digest(kDigest, '\0');
  const mbedtls_md_info_t* sha256 = mbedtls_md_info_from_type(MBEDTLS_MD_SHA256);
  const int failed = mbedtls_md_hmac(sha256, bytesOf(key), key.size(), bytesOf(data), data.size(),
                                     reinterpret_cast<unsigned char*>(digest.data()));
  // Without memory for its state: an empty proof equals none that a peer computes.
  return failed == 0 ? digest : std::string();
}

bool sameDigest(std::string_view a, std::string_view b) {
  return !a.empty() && a.size() == b.size() && mbedtls_ct_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace trainyard::launch
