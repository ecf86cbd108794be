#include "net/line_splitter.h"

#include <utility>

#include <fmt/format.h>

namespace trainyard::net {

base::Result<void> LineSplitter::feed(std::string_view bytes, std::vector<std::string>& lines) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    if (rest_.size() + piece.size() > maxLineBytes_) {
      return base::fail(base::ErrorCode::kInternal,
                        fmt::format("a line of the stream is longer than {} bytes", maxLineBytes_));
    }
    rest_.append(piece);
    if (newline == std::string_view::npos) break;
    if (rest_.ends_with('\r')) rest_.pop_back();
    lines.push_back(std::exchange(rest_, {}));
    bytes.remove_prefix(newline + 1);
  }
  return {};
}

std::string LineSplitter::takeRest() { return std::exchange(rest_, {}); }

}  // namespace trainyard::net
