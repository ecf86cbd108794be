#include "codec/launch_secret.h"

#include <utility>

#include <fmt/format.h>

#include "codec/base64.h"
#include "codec/json_writer.h"
#include "codec/owned_object.h"

namespace trainyard::codec {

std::string launchSecretName(const model::Job& job) {
  return fmt::format("{}-launch-{}", job.key.name, job.uid);
}

std::string encodeLaunchSecret(const model::Job& job, std::string_view token) {
  JsonWriter out;
  out.beginObject().member("apiVersion", "v1").member("kind", "Secret");
  writeOwnedMetadata(out, job, launchSecretName(job));
  out.member("type", "Opaque").memberBool("immutable", true);
  out.key("data").beginObject().member(kLaunchToken, encodeBase64(token)).endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
