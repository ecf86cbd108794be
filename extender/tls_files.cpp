#include "extender/tls_files.h"

#include <fmt/format.h>

#include "base/file.h"

namespace trainyard::extender {
namespace {

base::Result<std::string> readText(const std::string& path) {
  auto text = base::readFile(path);
  if (text && text->empty()) return base::fail(base::ErrorCode::kInvalid, fmt::format("{}: is empty", path));
  return text;
}

}  // namespace

base::Result<net::TlsServerConfig> readTlsFiles(const TlsFiles& files) {
  auto certificate = readText(files.certificate);
  if (!certificate) return base::fail(certificate.error());
  auto key = readText(files.privateKey);
  if (!key) return base::fail(key.error());
  auto clientCa = readText(files.clientCa);
  if (!clientCa) return base::fail(clientCa.error());
  return net::TlsServerConfig{std::move(*certificate), std::move(*key), std::move(*clientCa)};
}

}  // namespace trainyard::extender
