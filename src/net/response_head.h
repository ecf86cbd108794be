#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace trainyard::net {

// How the other side learns where an answer's body ends.
enum class Framing { kLength, kChunked, kUntilClose };

// "HTTP/1.1 200 OK" with headers and the empty line. Of the answer's own headers those that frame the message
// are left out, and control characters in values become blanks.
[[nodiscard]] std::string makeResponseHead(const HttpResponse& response, Framing framing, bool keepAlive);

// "OK" for 200; "Status" for codes without a well-known phrase.
[[nodiscard]] std::string_view reasonPhrase(int status);

// One piece of a chunked body; `bytes` must not be empty.
[[nodiscard]] std::string makeChunk(std::string_view bytes);

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace trainyard::net
