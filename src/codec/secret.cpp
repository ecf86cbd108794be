#include "codec/secret.h"

#include "codec/base64.h"
#include "codec/field.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

base::Result<Secret> decodeSecret(std::string_view json) {
  const auto document = JsonDocument::parse(json);
  if (!document) return base::fail(document.error());
  FieldErrors errors;
  const Field root(document->root(), errors);
  Secret secret;
  secret.resourceVersion = root["metadata"]["resourceVersion"].required();
  secret.renew = root["metadata"]["annotations"].value().find(kRenewAnnotation).present();
  root["data"].forEachMember([&](std::string_view key, const Field& value) {
    auto decoded = decodeBase64(value.text());
    if (!decoded) return value.complain("is not base64");
    secret.data.emplace(key, std::move(*decoded));
  });
  if (errors.any()) return base::fail(base::ErrorCode::kInvalid, "Secret: " + errors.first());
  return secret;
}

std::string encodeSecretPatch(std::string_view resourceVersion,
                              const std::map<std::string, std::string>& data) {
  JsonWriter json;
  json.beginObject().key("metadata").beginObject();
  json.member("resourceVersion", resourceVersion);
  json.key("annotations").beginObject().key(kRenewAnnotation).null().endObject().endObject();
  json.key("data").beginObject();
  for (const auto& [key, value] : data) {
    json.key(key);
    if (value.empty()) {
      json.null();
    } else {
      json.string(encodeBase64(value));
    }
  }
  json.endObject().endObject();
  return std::move(json).take();
}

}  // namespace trainyard::codec
