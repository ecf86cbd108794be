#include "codec/service.h"

#include <fmt/format.h>

#include "codec/json_writer.h"
#include "codec/owned_object.h"
#include "model/names.h"

namespace trainyard::codec {

std::string serviceName(const model::Job& job) { return job.key.name; }

namespace {

// No ports: a headless Service needs none, and the framework chooses what it listens on.
void writeHeadless(const model::Job& job, std::string_view name, JsonWriter& out) {
  out.beginObject().member("apiVersion", "v1").member("kind", "Service");
  writeOwnedMetadata(out, job, name);
  out.key("spec").beginObject().member("clusterIP", "None").memberBool("publishNotReadyAddresses", true);
  out.key("selector").beginObject();
  writeJobLabels(out, job);
}

}  // namespace

std::string encodeService(const model::Job& job) {
  JsonWriter out;
  writeHeadless(job, serviceName(job), out);
  out.endObject().endObject().endObject();
  return std::move(out).take();
}

std::string encodeMemberService(const model::Job& job, std::string_view role, int index) {
  JsonWriter out;
  writeHeadless(job, model::podName(job.key.name, role, index), out);
  out.member(model::names::kRoleLabel, role).member(model::names::kIndexLabel, fmt::to_string(index));
  out.endObject().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
