#include "codec/config_map.h"

#include "codec/json_writer.h"
#include "codec/owned_object.h"
#include "model/gang_size.h"

namespace trainyard::codec {

std::string configMapName(const model::Job& job) { return job.key.name + "-members"; }

std::string encodeConfigMap(const model::Job& job) {
  std::string hosts;
  JsonWriter list;
  list.beginArray();
  for (const model::Role& role : job.spec.roles) {
    const int members = model::gangMembers(job, role);
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
  out.member("hosts.txt", hosts).member("members.json", std::move(list).take());
  out.endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
