#include "codec/event.h"

#include "base/cut_text.h"
#include "base/plain_text.h"
#include "codec/json_writer.h"
#include "model/limits.h"

namespace trainyard::codec {
namespace {

using base::cutText;
using model::limits::kMaxEventField;
using model::limits::kMaxEventNote;

void writeSeries(JsonWriter& json, std::int64_t count, base::WallTime lastObserved) {
  json.key("series").beginObject();
  json.member("count", count).member("lastObservedTime", base::formatMicroTime(lastObserved));
  json.endObject();
}

void writeRef(JsonWriter& json, const ObjectRef& ref) {
  json.beginObject().member("apiVersion", ref.apiVersion).member("kind", ref.kind);
  if (!ref.ns.empty()) json.member("namespace", ref.ns);
  json.member("name", ref.name);
  if (!ref.uid.empty()) json.member("uid", ref.uid);
  json.endObject();
}

}  // namespace

std::string encodeEvent(const Event& event) {
  JsonWriter json;
  json.beginObject().member("apiVersion", "events.k8s.io/v1").member("kind", "Event");
  json.key("metadata").beginObject().member("name", event.name).member("namespace", event.ns).endObject();
  json.member("eventTime", base::formatMicroTime(event.time))
      .member("type", event.type)
      .member("reason", cutText(event.reason, kMaxEventField))
      .member("action", cutText(event.action, kMaxEventField))
      .member("note", cutText(base::plainText(event.note, false), kMaxEventNote))
      .member("reportingController", event.reportingController)
      .member("reportingInstance", cutText(event.reportingInstance, kMaxEventField));
  json.key("regarding");
  writeRef(json, event.regarding);
  if (event.count > 1) writeSeries(json, event.count, event.lastObserved);
  json.endObject();
  return std::move(json).take();
}

std::string encodeEventSeries(std::int64_t count, base::WallTime lastObserved) {
  JsonWriter json;
  json.beginObject();
  writeSeries(json, count, lastObserved);
  json.endObject();
  return std::move(json).take();
}

}  // namespace trainyard::codec
