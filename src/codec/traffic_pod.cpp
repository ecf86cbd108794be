#include "codec/traffic_pod.h"

#include <cstdint>
#include <limits>

#include "codec/decode_object.h"
#include "codec/json_writer.h"
#include "model/names.h"
#include "model/process_group.h"

namespace trainyard::codec {
namespace {

using model::TrafficPod;

constexpr int kLastBand = 6;
constexpr int kMaxPort = 65'535;
constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 32;

model::TrafficOrder readOrder(std::string_view text) {
  model::TrafficOrder order;
  if (text.empty()) return order;
  const auto document = JsonDocument::parse(text);
  if (!document || document->root().type() != JsonType::kObject) return order;
  FieldErrors errors;
  const Field root(document->root(), errors);
  order.off = root["off"].boolean(false);
  if (const Field band = root["band"]; band.present()) order.band = band.smallInteger(0, 0, kLastBand);
  order.since = root["since"].time();
  if (const Field expected = root["expectedSeconds"]; expected.present())
    order.expected = std::chrono::seconds(expected.integer(0, 0, kMaxSeconds));
  return errors.any() ? model::TrafficOrder{} : order;
}

void readMetadata(const Field& meta, TrafficPod& pod) {
  pod.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  pod.uid = model::Uid(meta["uid"].text());
  pod.resourceVersion = meta["resourceVersion"].text();
  pod.created = meta["creationTimestamp"].time().value_or(base::WallTime{});
  meta["ownerReferences"].forEachElement([&](const Field& owner) {
    if (!owner["controller"].boolean(false) || owner["kind"].text() != model::names::kTrainingJobKind) return;
    if (owner["apiVersion"].text() == model::names::kApiVersion) pod.jobUid = model::Uid(owner["uid"].text());
  });
  const JsonValue labels = meta["labels"].value();
  // An admission policy protects the label but not the owners: a pod that names a foreign uid gets none.
  if (labels.find(model::names::kJobUidLabel).string().value_or("") != pod.jobUid.str()) pod.jobUid = {};
  pod.role = labels.find(model::names::kRoleLabel).string().value_or("");
  const JsonValue annotations = meta["annotations"].value();
  pod.order = readOrder(annotations.find(model::kTrafficAnnotation).string().value_or(""));
}

TrafficPod readPod(const Field& root) {
  TrafficPod pod;
  readMetadata(root["metadata"], pod);
  const Field spec = root["spec"];
  pod.hostNetwork = spec["hostNetwork"].boolean(false);
  if (pod.hostNetwork) {
    spec["containers"].forEachElement([&](const Field& container) {
      container["ports"].forEachElement([&](const Field& port) {
        pod.ports.push_back(port["containerPort"].smallInteger(0, 0, kMaxPort));
      });
    });
  }
  const Field status = root["status"];
  const std::string_view phase = status["phase"].text();
  pod.finished = phase == "Succeeded" || phase == "Failed";
  pod.started = status["startTime"].time();
  status["podIPs"].forEachElement([&](const Field& each) { pod.addresses.push_back(each["ip"].string()); });
  return pod;
}

}  // namespace

base::Result<TrafficPod> decodeTrafficPod(std::string_view json) {
  return decodeObject("pod", json, readPod);
}

std::string encodeTrafficOrder(const model::Job& job, std::string_view role) {
  const model::NetworkRequest& asked = job.spec.network;
  if (!model::sendsParameters(role) && !asked.band) return {};
  JsonWriter out;
  out.beginObject();
  if (asked.off) {
    out.memberBool("off", true);
  } else {
    if (asked.band) out.member("band", *asked.band);
    out.member("since", base::formatTime(job.created));
    if (job.spec.estimatedDuration) out.member("expectedSeconds", job.spec.estimatedDuration->count());
  }
  out.endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
