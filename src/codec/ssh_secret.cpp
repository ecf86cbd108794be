#include "codec/ssh_secret.h"

#include <utility>

#include <fmt/format.h>

#include "codec/base64.h"
#include "codec/json_writer.h"
#include "codec/owned_object.h"

namespace trainyard::codec {

std::string sshSecretName(const model::Job& job) { return fmt::format("{}-ssh-{}", job.key.name, job.uid); }

std::string encodeSshSecret(const model::Job& job, const SshPair& user, const SshPair& host) {
  JsonWriter out;
  out.beginObject().member("apiVersion", "v1").member("kind", "Secret");
  writeOwnedMetadata(out, job, sshSecretName(job));
  out.member("type", "Opaque").memberBool("immutable", true);
  out.key("data").beginObject();
  out.member(kUserKey, encodeBase64(user.privateKey));
  out.member(kHostKey, encodeBase64(host.privateKey));
  out.member(kAuthorizedKeys, encodeBase64(user.publicLine + "\n"));
  out.member(kKnownHosts, encodeBase64(fmt::format("{} {}\n", kHostAlias, host.publicLine)));
  out.endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
