#include "net/tls_files.h"

#include <utility>

#include <fmt/format.h>

#include "base/file.h"

namespace trainyard::net {
namespace {

base::Result<std::string> readText(const std::string& path) {
  auto text = base::readFile(path);
  if (text && text->empty()) return base::fail(base::ErrorCode::kInvalid, fmt::format("{}: is empty", path));
  return text;
}

}  // namespace

base::Result<TlsServerConfig> readTlsFiles(const TlsFiles& files) {
  auto certificate = readText(files.certificate);
  if (!certificate) return base::fail(certificate.error());
  auto key = readText(files.privateKey);
  if (!key) return base::fail(key.error());
  TlsServerConfig config{.certificatePem = std::move(*certificate), .privateKeyPem = std::move(*key)};
  if (files.clientCa.empty()) return config;
  auto clientCa = readText(files.clientCa);
  if (!clientCa) return base::fail(clientCa.error());
  config.clientCaPem = std::move(*clientCa);
  return config;
}

}  // namespace trainyard::net
