#include "codec/more_memory.h"

#include <cstdint>

#include <fmt/format.h>

#include "base/quantity.h"
#include "codec/field.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "codec/pod_apartness.h"
#include "codec/pod_shape.h"

namespace trainyard::codec {
namespace {

// Copies the object. `write(name, value)` writes a member itself and returns true, or returns false.
template <typename Write>
void copyObject(const JsonValue& object, JsonWriter& out, Write write) {
  out.beginObject();
  object.forEachMember([&](std::string_view name, JsonValue value) {
    out.key(name);
    if (!write(name, value)) out.raw(value.minified());
  });
  out.endObject();
}

bool writeAmount(const JsonValue& value, JsonWriter& out) {
  const std::string text =
      value.type() == JsonType::kString ? std::string(value.string().value_or("")) : value.minified();
  const auto amount = base::Quantity::parse(text);
  if (!amount) return false;
  const std::int64_t units = amount->unitsRoundedUp();
  out.string(fmt::to_string(units + units / 2));
  return true;
}

bool writeResources(const JsonValue& resources, JsonWriter& out) {
  if (resources.type() != JsonType::kObject) return false;
  copyObject(resources, out, [&](std::string_view kind, const JsonValue& amounts) {
    if ((kind != "requests" && kind != "limits") || amounts.type() != JsonType::kObject) return false;
    copyObject(amounts, out, [&](std::string_view name, const JsonValue& value) {
      return name == "memory" && writeAmount(value, out);
    });
    return true;
  });
  return true;
}

bool writeContainers(const JsonValue& list, JsonWriter& out) {
  if (list.type() != JsonType::kArray) return false;
  out.beginArray();
  list.forEachElement([&](const JsonValue& container) {
    if (container.type() != JsonType::kObject) {
      out.raw(container.minified());
      return;
    }
    copyObject(container, out, [&](std::string_view name, const JsonValue& value) {
      return name == "resources" && writeResources(value, out);
    });
  });
  out.endArray();
  return true;
}

std::string withMoreMemory(const JsonValue& podTemplate) {
  JsonWriter out;
  copyObject(podTemplate, out, [&](std::string_view part, const JsonValue& spec) {
    if (part != "spec" || spec.type() != JsonType::kObject) return false;
    copyObject(spec, out, [&](std::string_view name, const JsonValue& value) {
      if (name == "resources") return writeResources(value, out);
      return (name == "containers" || name == "initContainers") && writeContainers(value, out);
    });
    return true;
  });
  return std::move(out).take();
}

}  // namespace

void giveMoreMemory(model::Job& job) {
  if (!job.specError.empty()) return;
  for (model::Role& role : job.spec.roles) {
    const auto asWritten = JsonDocument::parse(role.templateJson);
    if (!asWritten || asWritten->root().type() != JsonType::kObject) continue;
    std::string enlarged = withMoreMemory(asWritten->root());
    const auto document = JsonDocument::parse(enlarged);
    if (!document) continue;
    FieldErrors errors;
    const Field spec = Field(document->root(), errors)["spec"];
    CountedNames names;
    model::PodShape shape = readPodShape(spec, {}, names);
    addApartness(spec, job.key.ns, names, shape.requests);
    if (errors.any()) continue;
    role.shape = std::move(shape);
    role.templateJson = std::move(enlarged);
  }
}

}  // namespace trainyard::codec
