#include "codec/gang_of_pods.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "codec/decode_object.h"
#include "codec/gang_wishes.h"
#include "codec/json_writer.h"
#include "codec/leader_worker_set.h"
#include "codec/placing_template.h"
#include "codec/pod_group.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kSize = "trainyard.dev/gang-size";
constexpr int kMaxSize = 10'000;

Field annotation(const Field& metadata, std::string_view name) { return metadata["annotations"][name]; }

int readSize(const Field& field) {
  if (!field.present()) return 1;
  const std::string_view text = field.text();
  int size = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool isNumber = failure == std::errc{} && end == text.data() + text.size();
  if (!isNumber || size < 1 || size > kMaxSize) field.refuse("must be a number of pods from 1 to 10000");
  return size;
}

GangRequest readRequest(const Field& root) {
  const Field metadata = root["metadata"];
  GangRequest request{.size = readSize(annotation(metadata, kSize)),
                      .namesRole = metadata["labels"][model::names::kGangRoleLabel].present()};
  if (metadata["labels"][model::names::kGangLabel].present()) return request;
  if (const auto member = readGroupMember(metadata)) {
    request.leaderWorkerSet = member->set;
  } else if (!annotation(metadata, kSize).present()) {
    request.podGroup = podGroupOf(root["spec"]);
  }
  return request;
}

}  // namespace

base::Result<GangRequest> readGangRequest(std::string_view pod) {
  return decodeObject("pod", pod, readRequest);
}

base::Result<std::string> encodeGangOfPods(const model::ObjectKey& gang,
                                           const std::vector<RoleOfPods>& roles) {
  JsonWriter out;
  out.beginObject().member("apiVersion", model::names::kApiVersion).member("kind", model::names::kGangKind);
  out.key("metadata").beginObject().member("name", gang.name).member("namespace", gang.ns);
  out.key("finalizers").beginArray().string(model::names::kReleaseFinalizer).endArray();
  out.endObject();
  out.key("spec").beginObject();
  out.key("owner").beginObject().member("apiVersion", "v1").member("kind", "Pod").endObject();
  const auto wishes = decodeObject("pod", roles.front().pod, [&](const Field& root) {
    writeGangWishes(root["metadata"], root["spec"], out);
    return true;
  });
  if (!wishes) return base::fail(wishes.error());
  out.key("roles").beginArray();
  for (const RoleOfPods& each : roles) {
    const auto document = JsonDocument::parseObject(each.pod);
    if (!document) return base::fail(document.error());
    out.beginObject().member("name", each.role).member("replicas", each.replicas);
    out.key("template").beginObject().key("spec");
    writePlacingSpec(document->root().find("spec"), out);
    out.endObject().endObject();
  }
  out.endArray().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
