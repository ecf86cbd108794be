#include "codec/json_writer.h"

#include <fmt/format.h>

#include "base/json_text.h"

namespace trainyard::codec {

void JsonWriter::beforeValue() {
  if (needsComma_) text_ += ',';
  needsComma_ = true;
}

JsonWriter& JsonWriter::beginObject() {
  beforeValue();
  text_ += '{';
  needsComma_ = false;
  return *this;
}

JsonWriter& JsonWriter::endObject() {
  text_ += '}';
  needsComma_ = true;
  return *this;
}

JsonWriter& JsonWriter::beginArray() {
  beforeValue();
  text_ += '[';
  needsComma_ = false;
  return *this;
}

JsonWriter& JsonWriter::endArray() {
  text_ += ']';
  needsComma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  beforeValue();
  base::appendJson(text_, name);
  text_ += ':';
  needsComma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  beforeValue();
  base::appendJson(text_, value);
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) {
  beforeValue();
  text_ += fmt::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  beforeValue();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  beforeValue();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  beforeValue();
  text_ += json;
  return *this;
}

}  // namespace trainyard::codec
