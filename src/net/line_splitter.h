#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::net {

// Splits a byte stream into lines. Not thread-safe.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t maxLineBytes) : maxLineBytes_(maxLineBytes) {}

  // Appends to `lines` every line that `bytes` completes, without its "\n" or "\r\n". Returns kInternal if a
  // line exceeds the limit, complete or not; the splitter must not be used afterwards.
  [[nodiscard]] base::Result<void> feed(std::string_view bytes, std::vector<std::string>& lines);

  // Returns the bytes after the last newline.
  [[nodiscard]] std::string takeRest();

 private:
  std::size_t maxLineBytes_;
  std::string rest_;
};

}  // namespace trainyard::net
