#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace trainyard::net {

// How the receiver finds the end of an answer's body.
enum class Framing { kLength, kChunked, kUntilClose };

// Returns "HTTP/1.1 200 OK" with headers and the empty line. Headers of the answer that frame the message are
// left out, and control characters in values become blanks.
[[nodiscard]] std::string makeResponseHead(const HttpResponse& response, Framing framing, bool keepAlive);

// Returns "OK" for 200; "Status" for codes without a well-known phrase.
[[nodiscard]] std::string_view reasonPhrase(int status);

// Formats one piece of a chunked body; `bytes` must not be empty.
[[nodiscard]] std::string makeChunk(std::string_view bytes);

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace trainyard::net
