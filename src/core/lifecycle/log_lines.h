#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::core {

// Only the end of a longer log is read. The lines about the end of a program stand there, and reading stays
// bounded for a gang of any size.
constexpr std::size_t kLogBytes = std::size_t{64} << 10;
constexpr std::size_t kLogLines = 400;
// A longer line keeps its beginning and its end: messages stand in front, reasons at the end of long ones.
constexpr std::size_t kLineBytes = 1024;

struct LogLine {
  std::string text;  // without the prefix of its writer: times, ranks, colours
  bool indented = false;
};

// Keeps tabs; removes other control characters, escape sequences and invalid UTF-8.
[[nodiscard]] std::string withoutControls(std::string_view line);

// Returns the last lines of a log of any bytes. Control characters, invalid UTF-8 and blank lines are left
// out.
[[nodiscard]] std::vector<LogLine> lastLines(std::string_view log);

}  // namespace trainyard::core
