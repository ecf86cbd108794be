#include "kube/server_clock.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

namespace trainyard::kube {
namespace {

constexpr std::size_t kSamples = 9;
// An answer that took longer does not show precisely when its Date was written.
constexpr base::Instant::duration kSlow = std::chrono::seconds(2);
// Date is truncated to whole seconds.
constexpr std::chrono::milliseconds kMiddleOfSecond{500};

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::optional<int> number(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<base::WallTime> parseHttpDate(std::string_view text) {
  // "Sat, 28 Nov 2026 02:43:03 GMT"
  constexpr std::size_t kLength = 29;
  if (text.size() != kLength || !text.ends_with(" GMT") || text[3] != ',' || text[19] != ':' ||
      text[22] != ':')
    return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const auto day = number(text.substr(5, 2));
  const auto year = number(text.substr(12, 4));
  const auto hours = number(text.substr(17, 2));
  const auto minutes = number(text.substr(20, 2));
  const auto seconds = number(text.substr(23, 2));
  if (month == kMonths.end() || !day || !year || !hours || !minutes || !seconds) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return base::WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hours) +
         std::chrono::minutes(*minutes) + std::chrono::seconds(*seconds);
}

void ServerClock::note(std::string_view date, base::Instant sent) {
  const base::Instant received = executor_.now();
  if (date.empty() || received - sent > kSlow) return;
  const auto time = parseHttpDate(date);
  if (!time) return;
  const base::Instant answered = sent + (received - sent) / 2;
  samples_.push_back(*time + kMiddleOfSecond - answered.time_since_epoch());
  if (samples_.size() > kSamples) samples_.erase(samples_.begin());
  anchor();
}

void ServerClock::anchor() {
  std::vector<base::WallTime> sorted = samples_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const base::WallTime own = executor_.ownWallNow() - executor_.now().time_since_epoch();
  const auto ahead = own - *middle;
  // The hysteresis keeps a clock at the edge from switching sides with every answer.
  constexpr base::WallTime::duration kTolerance = base::Executor::kWallTolerance;
  const bool differs = std::chrono::abs(ahead) > (differs_ ? kTolerance / 2 : kTolerance);
  executor_.setWallAnchor(differs ? *middle : own);
  if (differs == differs_) return;
  differs_ = differs;
  if (differs) {
    log_.warning(
        "the clock of this machine differs from that of the API server; the API server's time is used",
        {{"ahead_seconds", fmt::to_string(std::chrono::duration_cast<std::chrono::seconds>(ahead).count())}});
  } else {
    log_.info("the clock of this machine agrees with that of the API server again");
  }
}

}  // namespace trainyard::kube
