#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::codec {

// Writes JSON text without spaces. The writer adds commas; the caller keeps the text well-formed: every
// key() is followed by one value, and every begin has its end. Invalid UTF-8 is replaced by replacement
// characters.
class JsonWriter {
 public:
  JsonWriter& beginObject();
  JsonWriter& endObject();
  JsonWriter& beginArray();
  JsonWriter& endArray();
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  // Writes a value that is JSON already.
  JsonWriter& raw(std::string_view json);

  // Writes key() and the value in one call.
  JsonWriter& member(std::string_view name, std::string_view value) { return key(name).string(value); }
  JsonWriter& member(std::string_view name, std::int64_t value) { return key(name).integer(value); }
  JsonWriter& memberBool(std::string_view name, bool value) { return key(name).boolean(value); }

  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  void beforeValue();

  std::string text_;
  bool needsComma_ = false;
};

}  // namespace trainyard::codec
