#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace trainyard::base {

// Uses the C library: a C++ stream does not report why it failed, and reads a directory as an empty file.
Result<std::string> readFile(const std::string& path, std::size_t maxBytes) {
  constexpr std::size_t kPiece = 64 << 10;
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const auto unreadable = [&] {
    return fail(ErrorCode::kInvalid,
                fmt::format("{}: cannot be read ({})", path, std::generic_category().message(errno)));
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (!file) return unreadable();
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    text.resize(before + std::fread(text.data() + before, 1, kPiece, file.get()));
    if (std::ferror(file.get()) != 0) return unreadable();
    if (text.size() > maxBytes)
      return fail(ErrorCode::kInvalid, fmt::format("{}: is larger than {} bytes", path, maxBytes));
    if (text.size() == before) return text;
  }
}

}  // namespace trainyard::base
