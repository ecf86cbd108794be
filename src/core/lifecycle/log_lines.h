#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::core {

// Of a log that is longer only the end is read: what ended a program stands there, and a gang of any size is
// read in bounded time.
constexpr std::size_t kLogBytes = std::size_t{64} << 10;
constexpr std::size_t kLogLines = 400;
// Of one line, its beginning and its end: messages stand in front, and reasons at the end of long ones.
constexpr std::size_t kLineBytes = 1024;

struct LogLine {
  std::string text;  // without what marks it as somebody's: times, ranks, colours
  bool indented = false;
};

// Tabs stay; other control characters, escape sequences and broken UTF-8 go.
[[nodiscard]] std::string withoutControls(std::string_view line);

// The last lines of a log of any bytes. Control characters and what is no UTF-8 are left out, blank lines as
// well.
[[nodiscard]] std::vector<LogLine> lastLines(std::string_view log);

}  // namespace trainyard::core
