#include "codec/exec_credential.h"

#include <fmt/format.h>

#include "codec/base64.h"
#include "codec/field.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

base::Result<ExecCredential> decodeExecCredential(std::string_view json, std::string_view apiVersion) {
  const auto document = JsonDocument::parse(json);
  if (!document) return base::fail(document.error());
  FieldErrors errors;
  const Field root(document->root(), errors);
  if (root["kind"].text() != "ExecCredential") root["kind"].refuse("must be ExecCredential");
  if (root["apiVersion"].text() != apiVersion)
    root["apiVersion"].refuse(fmt::format("must be {}", apiVersion));
  const Field status = root["status"];
  ExecCredential credential{.token = status["token"].string(),
                            .clientCertificateData = status["clientCertificateData"].string(),
                            .clientKeyData = status["clientKeyData"].string(),
                            .expiration = status["expirationTimestamp"].time()};
  if (credential.token.empty() && credential.clientCertificateData.empty()) {
    status.complain("has neither token nor clientCertificateData");
  }
  // A line break would split the HTTP header into two.
  if (credential.token.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    status["token"].complain("has more than one line");
  }
  if (errors.any()) return base::fail(base::ErrorCode::kInvalid, errors.first());
  return credential;
}

std::string encodeExecInfo(std::string_view apiVersion, const std::optional<ExecClusterInfo>& cluster) {
  JsonWriter json;
  json.beginObject().member("apiVersion", apiVersion).member("kind", "ExecCredential");
  json.key("spec").beginObject().memberBool("interactive", false);
  if (cluster) {
    json.key("cluster").beginObject().member("server", cluster->server);
    if (!cluster->tlsServerName.empty()) json.member("tls-server-name", cluster->tlsServerName);
    if (cluster->insecureSkipTlsVerify) json.memberBool("insecure-skip-tls-verify", true);
    if (!cluster->caPem.empty()) json.member("certificate-authority-data", encodeBase64(cluster->caPem));
    json.endObject();
  }
  json.endObject().endObject();
  return std::move(json).take();
}

}  // namespace trainyard::codec
