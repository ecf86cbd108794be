#include "replay/engine/options.h"

#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace trainyard::replay {
namespace {

constexpr double kLongest = 1e9;  // s

std::optional<double> numberOf(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

base::Result<ReplayCheckpoint> parseReplayCheckpoint(std::string_view text) {
  ReplayCheckpoint checkpoint{.permille = ReplayCheckpoint::kAll};
  const auto refuse = [&](std::string_view part) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("--checkpoint {}: must be like every=3600,restart=30,share=0.5, in whole "
                                  "seconds, share from 0 to 1",
                                  part));
  };
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto equals = std::min(part.find('='), part.size());
    const auto value = numberOf(part.substr(std::min(equals + 1, part.size())));
    const std::string_view key = part.substr(0, equals);
    if (!value || *value < 0 || *value > kLongest) return refuse(part);
    const std::chrono::seconds time(std::llround(*value));
    if (key == "every" && time.count() > 0) {
      checkpoint.every = time;
    } else if (key == "restart") {
      checkpoint.restart = time;
    } else if (key == "share" && *value <= 1) {
      checkpoint.permille = static_cast<int>(std::llround(*value * ReplayCheckpoint::kAll));
    } else {
      return refuse(part);
    }
  }
  return checkpoint;
}

}  // namespace trainyard::replay
