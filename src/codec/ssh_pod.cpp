#include "codec/ssh_pod.h"

#include <fmt/format.h>

#include "codec/container_env.h"
#include "codec/framework_files.h"
#include "codec/ssh_secret.h"
#include "model/framework_files.h"
#include "model/process_group.h"

namespace trainyard::codec {
namespace {

namespace files = model::files;

constexpr std::string_view kFilesVolume = "trainyard-files";
constexpr std::string_view kKeysVolume = "trainyard-ssh";
constexpr std::string_view kRunVolume = "trainyard-run";
constexpr std::string_view kWaitContainer = "trainyard-wait";
constexpr int kReadAndRun = 0555;
constexpr int kRead = 0444;

}  // namespace

void writeSshVolumes(JsonWriter& out, const model::Job& job) {
  out.beginObject().member("name", kFilesVolume).key("configMap").beginObject();
  out.member("name", frameworkFilesName(job)).member("defaultMode", kReadAndRun).endObject().endObject();
  // Readable by every user, because the image's user is not known here.
  out.beginObject().member("name", kKeysVolume).key("secret").beginObject();
  out.member("secretName", sshSecretName(job)).member("defaultMode", kRead).endObject().endObject();
  out.beginObject().member("name", kRunVolume).key("emptyDir").beginObject().endObject().endObject();
}

void writeSshMounts(JsonWriter& out) {
  const auto mount = [&](std::string_view volume, std::string_view path) -> JsonWriter& {
    return out.beginObject().member("name", volume).member("mountPath", path);
  };
  mount(kFilesVolume, files::kFolder).memberBool("readOnly", true).endObject();
  mount(kKeysVolume, files::kKeyFolder).memberBool("readOnly", true).endObject();
  mount(kRunVolume, files::kRunFolder).endObject();
  // The default path of ssh, because horovodrun and users call ssh without naming a file.
  mount(kFilesVolume, files::kSystemSshConfig)
      .member("subPath", files::kSshConfig)
      .memberBool("readOnly", true)
      .endObject();
}

void writeWaitContainer(JsonWriter& out, const JsonValue& launcher, const model::Environment& environment,
                        std::string_view filesName) {
  out.beginObject().member("name", kWaitContainer);
  for (const std::string_view taken :
       {"image", "imagePullPolicy", "resources", "securityContext", "envFrom"}) {
    if (const JsonValue value = launcher.find(taken); value.present()) out.key(taken).raw(value.minified());
  }
  out.key("command").beginArray().string("/bin/sh");
  out.string(fmt::format("{}/{}", files::kFolder, files::kWait)).endArray();
  out.key("env");
  writeContainerEnv(out, launcher, environment, filesName);
  out.key("volumeMounts").beginArray();
  writeSshMounts(out);
  out.endArray().endObject();
}

bool servesSsh(const model::Role& role, const JsonValue& container) {
  return role.name == "worker" && !container.find("command").present() && !container.find("args").present();
}

void writeSshServerCommand(JsonWriter& out) {
  out.key("command").beginArray().string("/bin/sh");
  out.string(fmt::format("{}/{}", files::kFolder, files::kSshd)).endArray();
}

}  // namespace trainyard::codec
