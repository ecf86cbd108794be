#include "codec/exec_credential.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

void execCredential(std::string_view input) {
  const auto read = codec::decodeExecCredential(input, "client.authentication.k8s.io/v1");
  if (!read) return require(!read.error().message.empty(), "a refusal says why");
  require(!read->token.empty() || !read->clientCertificateData.empty(), "a credential holds something");
  require(read->token.find_first_of("\r\n") == std::string::npos, "a token fits into one header line");
}

}  // namespace trainyard::fuzz
