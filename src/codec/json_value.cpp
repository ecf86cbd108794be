#include "codec/json_value.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "codec/json_limits.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

namespace dom = simdjson::dom;

// The only code that depends on the meaning of the two integers in JsonValue::element_.
struct JsonAccess {
  static_assert(sizeof(dom::element) == sizeof(std::array<std::uintptr_t, 2>));
  static_assert(std::is_trivially_copyable_v<dom::element>);

  static JsonValue wrap(const dom::element& element) {
    JsonValue value;
    value.element_ = std::bit_cast<std::array<std::uintptr_t, 2>>(element);
    return value;
  }
  static dom::element unwrap(const JsonValue& value) { return std::bit_cast<dom::element>(value.element_); }
};

JsonType JsonValue::type() const {
  if (element_[0] == 0) return JsonType::kMissing;
  switch (JsonAccess::unwrap(*this).type()) {
    case dom::element_type::ARRAY: return JsonType::kArray;
    case dom::element_type::OBJECT: return JsonType::kObject;
    case dom::element_type::INT64:
    case dom::element_type::UINT64: return JsonType::kInteger;
    case dom::element_type::DOUBLE: return JsonType::kReal;
    case dom::element_type::STRING: return JsonType::kString;
    case dom::element_type::BOOL: return JsonType::kBool;
    case dom::element_type::NULL_VALUE: return JsonType::kNull;
  }
  return JsonType::kMissing;
}

bool JsonValue::present() const { return element_[0] != 0 && !JsonAccess::unwrap(*this).is_null(); }

JsonValue JsonValue::find(std::string_view key) const {
  if (element_[0] == 0) return {};
  dom::object object;
  if (JsonAccess::unwrap(*this).get(object) != simdjson::SUCCESS) return {};
  dom::element found;
  if (object.at_key(key).get(found) != simdjson::SUCCESS) return {};
  return JsonAccess::wrap(found);
}

std::optional<std::string_view> JsonValue::string() const {
  std::string_view out;
  if (element_[0] == 0 || JsonAccess::unwrap(*this).get(out) != simdjson::SUCCESS) return std::nullopt;
  return out;
}

std::optional<std::int64_t> JsonValue::integer() const {
  std::int64_t out = 0;
  if (element_[0] == 0 || JsonAccess::unwrap(*this).get(out) != simdjson::SUCCESS) return std::nullopt;
  return out;
}

std::optional<bool> JsonValue::boolean() const {
  bool out = false;
  if (element_[0] == 0 || JsonAccess::unwrap(*this).get(out) != simdjson::SUCCESS) return std::nullopt;
  return out;
}

void JsonValue::visitMembers(MemberVisitor visit, void* context) const {
  dom::object object;
  if (element_[0] == 0 || JsonAccess::unwrap(*this).get(object) != simdjson::SUCCESS) return;
  for (const auto [key, value] : object) visit(context, key, JsonAccess::wrap(value));
}

void JsonValue::visitElements(ElementVisitor visit, void* context) const {
  dom::array array;
  if (element_[0] == 0 || JsonAccess::unwrap(*this).get(array) != simdjson::SUCCESS) return;
  for (const dom::element value : array) visit(context, JsonAccess::wrap(value));
}

std::string JsonValue::minified() const {
  return element_[0] == 0 ? std::string() : simdjson::minify(JsonAccess::unwrap(*this));
}

namespace {

void writeCanonical(const JsonValue& value, JsonWriter& out) {
  if (value.type() == JsonType::kObject) {
    std::vector<std::pair<std::string_view, JsonValue>> members;
    value.forEachMember([&](std::string_view key, JsonValue member) { members.emplace_back(key, member); });
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    out.beginObject();
    for (const auto& [key, member] : members) {
      out.key(key);
      writeCanonical(member, out);
    }
    out.endObject();
    return;
  }
  if (value.type() == JsonType::kArray) {
    out.beginArray();
    value.forEachElement([&](JsonValue element) { writeCanonical(element, out); });
    out.endArray();
    return;
  }
  out.raw(value.minified());
}

}  // namespace

std::string JsonValue::canonical() const {
  if (type() == JsonType::kMissing) return {};
  JsonWriter out;
  writeCanonical(*this, out);
  return std::move(out).take();
}

struct JsonDocument::Impl {
  dom::parser parser;
};

JsonDocument::JsonDocument(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

base::Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  constexpr JsonLimits kLimits;
  if (text.size() > kLimits.maxBytes) {
    return base::fail(base::ErrorCode::kInvalid, fmt::format("JSON of {} bytes: at most {} are accepted",
                                                             text.size(), kLimits.maxBytes));
  }
  JsonDocument document(std::make_unique<Impl>());
  dom::element root;
  // simdjson would copy zero bytes from a null pointer, which is undefined behaviour.
  auto error = text.empty() ? simdjson::EMPTY : simdjson::SUCCESS;
  if (!error)
    error = document.impl_->parser.allocate(std::max<std::size_t>(text.size(), 64), kLimits.maxDepth);
  if (!error) error = document.impl_->parser.parse(text.data(), text.size()).get(root);
  if (error)
    return base::fail(base::ErrorCode::kInvalid, fmt::format("not JSON: {}", simdjson::error_message(error)));
  document.root_ = JsonAccess::wrap(root);
  return document;
}

base::Result<JsonDocument> JsonDocument::parseObject(std::string_view text) {
  auto document = parse(text);
  if (document) return document;
  const auto pruned = pruneDeepValues(text, kReadDepth);
  return pruned ? parse(*pruned) : std::move(document);
}

std::optional<std::string> pruneDeepValues(std::string_view text, std::size_t maxDepth) {
  constexpr JsonLimits kLimits;
  if (text.size() > kLimits.maxBytes || checkJsonLimits(text, {kLimits.maxBytes, maxDepth}))
    return std::nullopt;
  std::string out;
  std::size_t depth = 0;
  bool inString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!inString && (c == '{' || c == '[') && ++depth == maxDepth + 1) out += "null";
    if (depth <= maxDepth) out += c;
    if (inString && c == '\\' && i + 1 < text.size()) {
      ++i;
      if (depth <= maxDepth) out += text[i];
    } else if (c == '"') {
      inString = !inString;
    } else if (!inString && (c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return out;
}

}  // namespace trainyard::codec
