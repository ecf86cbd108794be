#include "codec/lease.h"

#include <algorithm>
#include <array>
#include <limits>

#include "codec/field.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {
namespace {

constexpr std::array<std::string_view, 5> kOurFields{"holderIdentity", "leaseDurationSeconds", "acquireTime",
                                                     "renewTime", "leaseTransitions"};

void writeRecord(JsonWriter& json, const LeaseRecord& record) {
  json.member("holderIdentity", record.holderIdentity)
      .member("leaseDurationSeconds", record.leaseDurationSeconds)
      .member("acquireTime", record.acquireTime)
      .member("renewTime", record.renewTime)
      .member("leaseTransitions", record.leaseTransitions);
}

JsonWriter& begin(JsonWriter& json) {
  return json.beginObject().member("apiVersion", "coordination.k8s.io/v1").member("kind", "Lease");
}

}  // namespace

base::Result<Lease> decodeLease(std::string text) {
  const auto document = JsonDocument::parse(text);
  if (!document) return base::fail(document.error());
  FieldErrors errors;
  const Field root(document->root(), errors);
  const Field spec = root["spec"];
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  // Trainyard never writes negative numbers, but they must not make the object unreadable.
  Lease lease{.record = {.holderIdentity = spec["holderIdentity"].string(),
                         .leaseDurationSeconds = spec["leaseDurationSeconds"].integer(0, -kMax, kMax),
                         .acquireTime = spec["acquireTime"].string(),
                         .renewTime = spec["renewTime"].string(),
                         .leaseTransitions = spec["leaseTransitions"].integer(0, -kMax, kMax)},
              .text = {}};
  (void)root["metadata"]["resourceVersion"].required();
  if (errors.any()) return base::fail(base::ErrorCode::kInvalid, "Lease: " + errors.first());
  lease.text = std::move(text);
  return lease;
}

std::string encodeNewLease(std::string_view ns, std::string_view name, const LeaseRecord& record) {
  JsonWriter json;
  begin(json).key("metadata").beginObject().member("name", name).member("namespace", ns).endObject();
  json.key("spec").beginObject();
  writeRecord(json, record);
  json.endObject().endObject();
  return std::move(json).take();
}

std::string encodeLease(const Lease& lease, const LeaseRecord& record) {
  JsonWriter json;
  const auto document = JsonDocument::parse(lease.text);
  const JsonValue root = document ? document->root() : JsonValue();
  begin(json).key("metadata").raw(root.find("metadata").minified());
  json.key("spec").beginObject();
  writeRecord(json, record);
  root.find("spec").forEachMember([&](std::string_view key, JsonValue value) {
    if (std::find(kOurFields.begin(), kOurFields.end(), key) == kOurFields.end()) {
      json.key(key).raw(value.minified());
    }
  });
  json.endObject().endObject();
  return std::move(json).take();
}

}  // namespace trainyard::codec
