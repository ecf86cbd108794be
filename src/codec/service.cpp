#include "codec/service.h"

#include "codec/json_writer.h"
#include "codec/owned_object.h"

namespace trainyard::codec {

std::string serviceName(const model::Job& job) { return job.key.name; }

std::string encodeService(const model::Job& job) {
  JsonWriter out;
  out.beginObject().member("apiVersion", "v1").member("kind", "Service");
  writeOwnedMetadata(out, job, serviceName(job));
  // No ports: a headless Service needs none, and what the framework listens on is its own business.
  out.key("spec").beginObject().member("clusterIP", "None").memberBool("publishNotReadyAddresses", true);
  out.key("selector").beginObject();
  writeJobLabels(out, job);
  out.endObject().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
