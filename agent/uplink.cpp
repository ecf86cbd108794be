#include "agent/uplink.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace trainyard::agent {
namespace {

constexpr std::uint64_t kMegabit = 125'000;

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    found.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return found;
}

template <typename Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The device and the metric of a default route.
struct Candidate {
  std::string_view device;
  std::uint64_t metric = 0;
};

// Returns the device of the route with the lowest metric; the first one of equals.
template <typename Read>
base::Result<std::string> bestOf(std::string_view routes, Read read) {
  std::string device;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  while (!routes.empty()) {
    const std::size_t end = std::min(routes.find('\n'), routes.size());
    const std::optional<Candidate> found = read(words(routes.substr(0, end)));
    routes.remove_prefix(std::min(end + 1, routes.size()));
    if (!found || found->metric >= least) continue;
    least = found->metric;
    device = found->device;
  }
  if (device.empty())
    return base::fail(base::ErrorCode::kInvalid,
                      "no default route leads to a device: name one with --device");
  return device;
}

}  // namespace

base::Result<std::string> defaultDevice(std::string_view routes) {
  // Iface Destination Gateway Flags RefCnt Use Metric Mask …
  constexpr std::size_t kDestination = 1;
  constexpr std::size_t kMetric = 6;
  constexpr std::size_t kMask = 7;
  return bestOf(routes, [](const std::vector<std::string_view>& fields) -> std::optional<Candidate> {
    if (fields.size() <= kMask || fields[kDestination] != "00000000" || fields[kMask] != "00000000")
      return {};
    const auto metric = number<std::uint64_t>(fields[kMetric]);
    if (!metric) return {};
    return Candidate{fields[0], *metric};
  });
}

base::Result<std::string> defaultDevice6(std::string_view routes) {
  // Fields: destination, its prefix length, source, its prefix length, next hop, metric, RefCnt,
  // Use, flags, device; all numbers are hexadecimal. On a node without a default route, the
  // kernel lists an unreachable route through lo.
  constexpr std::size_t kLength = 1;
  constexpr std::size_t kMetric = 5;
  constexpr std::size_t kDevice = 9;
  constexpr int kHex = 16;
  return bestOf(routes, [](const std::vector<std::string_view>& fields) -> std::optional<Candidate> {
    if (fields.size() <= kDevice || fields[0].find_first_not_of('0') != std::string_view::npos ||
        fields[kLength] != "00" || fields[kDevice] == "lo")
      return {};
    const auto metric = number<std::uint64_t>(fields[kMetric], kHex);
    if (!metric) return {};
    return Candidate{fields[kDevice], *metric};
  });
}

base::Result<std::uint64_t> linkRate(std::string_view speed) {
  const std::string_view trimmed = speed.substr(0, speed.find('\n'));
  const auto megabits = number<std::int64_t>(trimmed);
  if (!megabits || *megabits <= 0)
    return base::fail(base::ErrorCode::kInvalid, "the device does not report its speed: set it with --rate");
  return static_cast<std::uint64_t>(*megabits) * kMegabit;
}

base::Result<std::uint64_t> parseRate(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> kUnits{
      {{"gbit", kMegabit * 1'000}, {"mbit", kMegabit}, {"kbit", kMegabit / 1'000}}};
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto count = number<std::uint64_t>(text.substr(0, text.size() - unit.size()));
    if (count && *count > 0 && *count <= 10'000'000) return *count * bytes;
  }
  return base::fail(base::ErrorCode::kInvalid,
                    fmt::format("\"{}\" is not a rate: write it as 25gbit, 200mbit or 100kbit", text));
}

}  // namespace trainyard::agent
