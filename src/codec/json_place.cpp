#include "codec/json_place.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace trainyard::codec {

std::string placeOfJsonMistake(std::string_view text) {
  using Json = nlohmann::json;
  std::size_t byte = 0;  // the first is 1
  try {
    // The callback discards every value, so that deeply nested text builds no tree.
    [[maybe_unused]] const Json none =
        Json::parse(text.begin(), text.end(), [](int, Json::parse_event_t, Json&) { return false; });
    return {};
  } catch (const Json::parse_error& error) {
    byte = error.byte;
  } catch (const Json::exception&) {
    return "line 1, column 1";
  }
  const std::string_view before = text.substr(0, std::max<std::size_t>(byte, 1) - 1);
  const auto line = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = line == 0 ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line + 1, before.size() - start + 1);
}

}  // namespace trainyard::codec
