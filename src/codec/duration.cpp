#include "codec/duration.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace trainyard::codec {

std::optional<std::chrono::milliseconds> parseDuration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits{
      {{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  std::size_t next = 0;  // the first unit that may still follow
  while (!text.empty()) {
    if (text.front() < '0' || text.front() > '9') return std::nullopt;  // from_chars would accept a sign
    std::int64_t amount = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
    const std::string_view unit = text.substr(0, text.find_first_of("0123456789"));
    text.remove_prefix(unit.size());
    while (next < kUnits.size() && kUnits[next].first != unit) ++next;
    if (next == kUnits.size()) return std::nullopt;
    if (__builtin_mul_overflow(amount, kUnits[next].second, &amount)) return std::nullopt;
    if (__builtin_add_overflow(total, amount, &total)) return std::nullopt;
    ++next;
  }
  return std::chrono::milliseconds(total);
}

}  // namespace trainyard::codec
