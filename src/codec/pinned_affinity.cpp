#include "codec/pinned_affinity.h"

#include <string>
#include <string_view>

namespace trainyard::codec {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kNameField = "metadata.name";

// Writes the object with the value of one member replaced by the output of `write`. Without such a member,
// `write` gets a missing value.
template <typename Write>
void writeReplacing(const JsonValue& object, std::string_view name, JsonWriter& out, Write write) {
  out.beginObject();
  object.forEachMember([&](std::string_view key, JsonValue value) {
    if (key != name && value.present()) out.key(key).raw(value.minified());
  });
  out.key(name);
  write(object.find(name));
  out.endObject();
}

void writeNameRequirement(const model::NodeName& node, JsonWriter& out) {
  out.beginObject().member("key", kNameField).member("operator", "In");
  out.key("values").beginArray().string(node.str()).endArray().endObject();
}

void writePinnedTerm(const JsonValue& term, const model::NodeName& node, JsonWriter& out) {
  // An empty term matches no node; with the added field it would match one.
  bool empty = true;
  term.forEachMember(
      [&](std::string_view, JsonValue list) { list.forEachElement([&](JsonValue) { empty = false; }); });
  if (empty) {
    out.beginObject().endObject();
    return;
  }
  writeReplacing(term, "matchFields", out, [&](const JsonValue& fields) {
    out.beginArray();
    fields.forEachElement([&](JsonValue field) { out.raw(field.minified()); });
    writeNameRequirement(node, out);
    out.endArray();
  });
}

std::string_view operatorName(model::SelectorOperator op) {
  switch (op) {
    case model::SelectorOperator::kIn: return "In";
    case model::SelectorOperator::kNotIn: return "NotIn";
    case model::SelectorOperator::kExists: return "Exists";
    case model::SelectorOperator::kDoesNotExist: return "DoesNotExist";
    case model::SelectorOperator::kGt: return "Gt";
    case model::SelectorOperator::kLt: return "Lt";
  }
  return "In";
}

void writeRequirement(const model::SelectorRequirement& requirement, JsonWriter& out) {
  out.beginObject().member("key", requirement.key).member("operator", operatorName(requirement.op));
  if (!requirement.values.empty()) {
    out.key("values").beginArray();
    for (const std::string& value : requirement.values) out.string(value);
    out.endArray();
  }
  out.endObject();
}

bool names(const model::SelectorRequirement& field, const model::NodeName& node) {
  return field.key == kNameField && field.op == model::SelectorOperator::kIn && field.values.size() == 1 &&
         field.values.front() == node.str();
}

void writePinnedTerm(const model::NodeSelectorTerm& term, const model::NodeName& node, JsonWriter& out) {
  out.beginObject();
  if (!term.labels.empty()) {
    out.key("matchExpressions").beginArray();
    for (const auto& requirement : term.labels) writeRequirement(requirement, out);
    out.endArray();
  }
  if (!term.labels.empty() || !term.fields.empty()) {
    out.key("matchFields").beginArray();
    bool pinned = false;
    for (const auto& field : term.fields) {
      writeRequirement(field, out);
      pinned = pinned || names(field, node);
    }
    if (!pinned) writeNameRequirement(node, out);
    out.endArray();
  }
  out.endObject();
}

}  // namespace

void writePinnedAffinity(const JsonValue& affinity, const model::NodeName& node, JsonWriter& out) {
  writeReplacing(affinity, "nodeAffinity", out, [&](const JsonValue& nodeAffinity) {
    writeReplacing(nodeAffinity, kRequired, out, [&](const JsonValue& required) {
      writeReplacing(required, "nodeSelectorTerms", out, [&](const JsonValue& terms) {
        out.beginArray();
        if (!required.present()) {
          out.beginObject().key("matchFields").beginArray();
          writeNameRequirement(node, out);
          out.endArray().endObject();
        }
        terms.forEachElement([&](JsonValue term) { writePinnedTerm(term, node, out); });
        out.endArray();
      });
    });
  });
}

void writePinnedAffinity(const std::optional<std::vector<model::NodeSelectorTerm>>& terms,
                         const model::NodeName& node, JsonWriter& out) {
  out.beginObject().key("nodeAffinity").beginObject().key(kRequired).beginObject();
  out.key("nodeSelectorTerms").beginArray();
  if (!terms) {
    out.beginObject().key("matchFields").beginArray();
    writeNameRequirement(node, out);
    out.endArray().endObject();
  } else {
    for (const auto& term : *terms) writePinnedTerm(term, node, out);
  }
  out.endArray().endObject().endObject().endObject();
}

}  // namespace trainyard::codec
