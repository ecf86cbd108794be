#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http.h"

namespace trainyard::operator_::console {

inline constexpr std::string_view kJson = "application/json";

// Adds the headers that every answer has: no script but the page's own files, no frames, no type guessing, no
// caching.
[[nodiscard]] net::HttpResponse makeAnswer(int status, std::string_view type, std::string body);
// A Status object as the API server returns it, which Kubernetes clients can read.
[[nodiscard]] net::HttpResponse refusal(int status, std::string_view why);

// A file of the page, by its path ("/" is index.html). Its type and text have static lifetime.
struct PageFile {
  std::string_view type;
  std::string_view text;
};
[[nodiscard]] std::optional<PageFile> findPageFile(std::string_view path);

using Query = std::vector<std::pair<std::string, std::string>>;
// Parses "a=1&b=x%20y"; leaves out what is not well-formed.
[[nodiscard]] Query readQuery(std::string_view query);
// Empty if there is no such key.
[[nodiscard]] std::string valueOf(const Query& query, std::string_view key);

// Accepts lower-case letters, digits, dashes and dots: names of objects, and nothing that has a meaning in a
// path or selector.
[[nodiscard]] bool plainName(std::string_view text);

// One server-sent event. `json` has no line breaks.
[[nodiscard]] std::string sentEvent(std::string_view name, std::string_view json);

}  // namespace trainyard::operator_::console
