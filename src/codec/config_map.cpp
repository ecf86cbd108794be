#include "codec/config_map.h"

#include <fmt/format.h>

#include "codec/json_writer.h"
#include "codec/owned_object.h"
#include "model/late_members.h"
#include "model/limits.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kHosts = "hosts.txt";
constexpr std::string_view kMembers = "members.json";

}  // namespace

std::string configMapName(const model::Job& job) {
  const std::string name = fmt::format("{}-members-{}", job.key.name, job.uid);
  // Each size has its own ConfigMap, because pods of the old size may still mount theirs.
  return job.spec.elastic ? fmt::format("{}-{}", name, model::announcedMembers(job)) : name;
}

std::size_t hostsBytes(std::size_t members, std::size_t longestHost) {
  return kHosts.size() + members * (longestHost + 1);
}

std::string encodeConfigMap(const model::Job& job) {
  std::string hosts;
  JsonWriter list;
  list.beginArray();
  for (const model::Role& role : job.spec.roles) {
    const int members = model::announcedMembers(job, role);
    for (int index = 0; index < members; ++index) {
      const std::string host = model::memberHost(job, role.name, index);
      hosts += host + "\n";
      list.beginObject().member("role", role.name).member("index", index).member("host", host).endObject();
    }
  }
  list.endArray();

  JsonWriter out;
  out.beginObject().member("apiVersion", "v1").member("kind", "ConfigMap");
  writeOwnedMetadata(out, job, configMapName(job));
  out.key("data").beginObject();
  out.member(kHosts, hosts);
  const std::string members = std::move(list).take();
  const std::size_t both = kHosts.size() + hosts.size() + kMembers.size() + members.size();
  if (both <= model::limits::kConfigMapBytes) out.member(kMembers, members);
  out.endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
