#include "codec/placing_template.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace trainyard::codec {
namespace {

constexpr std::array<std::string_view, 11> kOfPod{
    "affinity",    "nodeSelector",      "tolerations",     "overhead",
    "resources",   "priorityClassName", "schedulerName",   "terminationGracePeriodSeconds",
    "hostNetwork", "resourceClaims",    "runtimeClassName"};
constexpr std::array<std::string_view, 4> kOfContainer{"name", "resources", "ports", "restartPolicy"};
constexpr std::array<std::string_view, 3> kOfVolume{"name", "persistentVolumeClaim", "ephemeral"};

template <std::size_t N>
void copyMembers(const JsonValue& from, const std::array<std::string_view, N>& names, JsonWriter& out) {
  for (const std::string_view name : names) {
    const JsonValue value = from.find(name);
    if (value.present()) out.key(name).raw(value.minified());
  }
}

template <std::size_t N>
void copyList(std::string_view key, const JsonValue& list, const std::array<std::string_view, N>& names,
              JsonWriter& out) {
  if (!list.present()) return;
  out.key(key).beginArray();
  list.forEachElement([&](JsonValue each) {
    out.beginObject();
    copyMembers(each, names, out);
    out.endObject();
  });
  out.endArray();
}

void copyVolumes(const JsonValue& volumes, JsonWriter& out) {
  if (!volumes.present()) return;
  out.key("volumes").beginArray();
  volumes.forEachElement([&](JsonValue each) {
    if (!each.find("persistentVolumeClaim").present() && !each.find("ephemeral").present()) return;
    out.beginObject();
    copyMembers(each, kOfVolume, out);
    out.endObject();
  });
  out.endArray();
}

}  // namespace

void writePlacingSpec(const JsonValue& podSpec, JsonWriter& out) {
  out.beginObject();
  copyMembers(podSpec, kOfPod, out);
  copyList("initContainers", podSpec.find("initContainers"), kOfContainer, out);
  copyList("containers", podSpec.find("containers"), kOfContainer, out);
  copyVolumes(podSpec.find("volumes"), out);
  out.endObject();
}

}  // namespace trainyard::codec
