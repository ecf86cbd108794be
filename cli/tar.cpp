#include "cli/tar.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace trainyard::cli {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kName = 100;

using Header = std::array<char, kBlock>;

void put(Header& header, std::size_t at, const std::string& text) {
  std::memcpy(header.data() + at, text.data(), std::min(text.size(), kBlock - at));
}

Header headerOf(const std::string& name, std::size_t size, std::int64_t seconds) {
  Header header{};
  put(header, 0, name.substr(0, kName));
  put(header, 100, "0000600");
  put(header, 108, "0000000");
  put(header, 116, "0000000");
  put(header, 124, fmt::format("{:011o}", size));
  put(header, 136, fmt::format("{:011o}", seconds));
  put(header, 148, "        ");  // the sum counts its own field as spaces
  put(header, 156, "0");
  put(header, 257, "ustar");
  put(header, 263, "00");
  unsigned sum = 0;
  for (const char each : header) sum += static_cast<unsigned char>(each);
  put(header, 148, fmt::format("{:06o}", sum) + std::string(1, '\0') + " ");
  return header;
}

}  // namespace

std::string tarOf(const std::vector<std::pair<std::string, std::string>>& files, std::int64_t seconds) {
  std::string out;
  for (const auto& [name, contents] : files) {
    const Header header = headerOf(name, contents.size(), seconds);
    out.append(header.data(), header.size());
    out += contents;
    out.append((kBlock - contents.size() % kBlock) % kBlock, '\0');
  }
  out.append(2 * kBlock, '\0');
  return out;
}

}  // namespace trainyard::cli
