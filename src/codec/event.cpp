#include "codec/event.h"

#include "codec/json_writer.h"

namespace trainyard::codec {
namespace {

constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kMaxWord = 128;

// At most `limit` bytes, not ending in the middle of a character.
std::string_view cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

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
      .member("reason", cut(event.reason, kMaxWord))
      .member("action", cut(event.action, kMaxWord))
      .member("note", cut(event.note, kMaxNote))
      .member("reportingController", event.reportingController)
      .member("reportingInstance", cut(event.reportingInstance, kMaxWord));
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
