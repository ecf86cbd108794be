#include "codec/elastic_pod.h"

#include <fmt/format.h>

#include "codec/launch_secret.h"
#include "model/membership.h"
#include "model/process_group.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kMembershipVolume = "trainyard-membership";
constexpr std::string_view kMembershipKey = "membership";
constexpr std::string_view kMembershipFolder = "/etc/trainyard";
// The mount path with ssh files, which occupy the folder above: a read-only volume cannot hold a mount point.
constexpr std::string_view kMembershipFolderOverSsh = "/etc/trainyard/job";
constexpr std::string_view kProgramVolume = "trainyard-launch";
constexpr std::string_view kProgramFolder = "/opt/trainyard";
constexpr std::string_view kProgram = "trainyard-launch";
constexpr std::string_view kTokenVolume = "trainyard-launch-token";
constexpr std::string_view kTokenFolder = "/etc/trainyard-launch";
constexpr int kRead = 0444;

std::string_view membershipFolder(const model::Job& job) {
  return model::launchesOverSsh(job) ? kMembershipFolderOverSsh : kMembershipFolder;
}

// A gang that never has a second member has no peer that the token would authenticate.
bool hasToken(const model::Job& job) { return usesLauncher(job.spec) && job.spec.mayHavePeers(); }

}  // namespace

bool usesLauncher(const model::JobSpec& spec) {
  return spec.checkpoint && spec.checkpoint->mode == model::CheckpointMode::kLauncher;
}

bool hasElasticParts(const model::JobSpec& spec) {
  return usesLauncher(spec) || model::readsMembership(spec);
}

model::Environment elasticEnvironment(const model::Job& job) {
  model::Environment env;
  if (model::readsMembership(job.spec))
    env.push_back({"TRAINYARD_MEMBERSHIP", fmt::format("{}/{}", membershipFolder(job), kMembershipKey)});
  if (usesLauncher(job.spec)) {
    env.push_back({"TRAINYARD_GRACE_SECONDS", fmt::to_string(job.spec.checkpoint->gracePeriod.count())});
    env.push_back({"TRAINYARD_LAUNCH", fmt::format("{}/{}", kProgramFolder, kProgram)});
  }
  if (hasToken(job))
    env.push_back({"TRAINYARD_LAUNCH_TOKEN", fmt::format("{}/{}", kTokenFolder, kLaunchToken)});
  return env;
}

void writeElasticVolumes(JsonWriter& out, const model::Job& job) {
  if (model::readsMembership(job.spec)) {
    out.beginObject().member("name", kMembershipVolume).key("downwardAPI").beginObject();
    out.key("items").beginArray().beginObject().member("path", kMembershipKey);
    out.key("fieldRef").beginObject();
    out.member("fieldPath", fmt::format("metadata.annotations['{}']", model::kMembershipAnnotation));
    out.endObject().endObject().endArray().endObject().endObject();
  }
  if (usesLauncher(job.spec))
    out.beginObject().member("name", kProgramVolume).key("emptyDir").beginObject().endObject().endObject();
  if (hasToken(job)) {
    out.beginObject().member("name", kTokenVolume).key("secret").beginObject();
    // Readable by every user, because the image's user is not known here.
    out.member("secretName", launchSecretName(job)).member("defaultMode", kRead).endObject().endObject();
  }
}

void writeElasticMounts(JsonWriter& out, const model::Job& job) {
  const auto mount = [&](std::string_view volume, std::string_view path) {
    out.beginObject()
        .member("name", volume)
        .member("mountPath", path)
        .memberBool("readOnly", true)
        .endObject();
  };
  if (model::readsMembership(job.spec)) mount(kMembershipVolume, membershipFolder(job));
  if (usesLauncher(job.spec)) mount(kProgramVolume, kProgramFolder);
  if (hasToken(job)) mount(kTokenVolume, kTokenFolder);
}

void writeInstallContainer(JsonWriter& out, const JsonValue& first, std::string_view image) {
  out.beginObject().member("name", kProgramVolume).member("image", image);
  for (const std::string_view taken : {"resources", "securityContext"}) {
    if (const JsonValue value = first.find(taken); value.present()) out.key(taken).raw(value.minified());
  }
  out.key("args").beginArray().string("install").string(kProgramFolder).endArray();
  out.key("volumeMounts").beginArray().beginObject();
  out.member("name", kProgramVolume).member("mountPath", kProgramFolder).endObject().endArray();
  out.endObject();
}

std::string launchComplaint(const JsonValue& first, std::string_view image) {
  if (image.empty())
    return "checkpoint.mode Launcher: the operator has no image of trainyard-launch (--launcher-image)";
  bool hasCommand = false;
  first.find("command").forEachElement([&](const JsonValue&) { hasCommand = true; });
  if (hasCommand) return {};
  return "spec.containers[0].command: is required with checkpoint.mode Launcher: trainyard-launch starts it, "
         "and "
         "what the image would run is not known";
}

void writeLaunchedCommand(JsonWriter& out, const JsonValue& container) {
  out.key("command").beginArray();
  out.string(fmt::format("{}/{}", kProgramFolder, kProgram)).string("exec").string("--");
  container.find("command").forEachElement([&](JsonValue word) { out.raw(word.minified()); });
  out.endArray();
}

}  // namespace trainyard::codec
