#include "base/time.h"

#include <charconv>

#include <fmt/format.h>

namespace trainyard::base {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr WallTime kFirstMoment = std::chrono::sys_days{std::chrono::year{0} / 1 / 1};
constexpr WallTime kEndOfTime = std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1};

struct CivilTime {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<microseconds> time;
};

CivilTime toCivil(WallTime time) {
  const auto day = std::chrono::floor<days>(time);
  return {std::chrono::year_month_day{day}, std::chrono::hh_mm_ss<microseconds>{time - day}};
}

std::string formatSeconds(const CivilTime& civil) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(civil.date.year()),
                     static_cast<unsigned>(civil.date.month()), static_cast<unsigned>(civil.date.day()),
                     civil.time.hours().count(), civil.time.minutes().count(), civil.time.seconds().count());
}

// Reads exactly `width` digits at `pos` and moves past them.
bool readDigits(std::string_view text, std::size_t& pos, std::size_t width, int& out) {
  if (pos + width > text.size()) return false;
  const char* begin = text.data() + pos;
  const char* end = begin + width;
  for (const char* c = begin; c != end; ++c) {
    if (*c < '0' || *c > '9') return false;
  }
  std::from_chars(begin, end, out);
  pos += width;
  return true;
}

bool readChar(std::string_view text, std::size_t& pos, char expected) {
  if (pos >= text.size() || text[pos] != expected) return false;
  ++pos;
  return true;
}

bool readFraction(std::string_view text, std::size_t& pos, microseconds& out) {
  std::int64_t value = 0;
  int kept = 0;
  const std::size_t start = pos;
  for (; pos < text.size() && text[pos] >= '0' && text[pos] <= '9'; ++pos) {
    if (kept == 6) continue;
    value = value * 10 + (text[pos] - '0');
    ++kept;
  }
  if (pos == start) return false;
  for (; kept < 6; ++kept) value *= 10;
  out = microseconds{value};
  return true;
}

bool readOffset(std::string_view text, std::size_t& pos, minutes& out) {
  if (pos >= text.size()) return false;
  const char sign = text[pos++];
  if (sign == 'Z' || sign == 'z') {
    out = minutes{0};
    return true;
  }
  int hour = 0;
  int minute = 0;
  if ((sign != '+' && sign != '-') || !readDigits(text, pos, 2, hour) || !readChar(text, pos, ':') ||
      !readDigits(text, pos, 2, minute) || hour > 23 || minute > 59) {
    return false;
  }
  out = hours{hour} + minutes{minute};
  if (sign == '-') out = -out;
  return true;
}

}  // namespace

std::string formatTime(WallTime time) { return formatSeconds(toCivil(time)) + "Z"; }

std::string formatMicroTime(WallTime time) {
  const CivilTime civil = toCivil(time);
  return fmt::format("{}.{:06}Z", formatSeconds(civil), civil.time.subseconds().count());
}

Result<WallTime> parseTime(std::string_view text) {
  std::size_t pos = 0;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  microseconds fraction{0};
  minutes offset{0};
  const bool shaped =
      readDigits(text, pos, 4, year) && readChar(text, pos, '-') && readDigits(text, pos, 2, month) &&
      readChar(text, pos, '-') && readDigits(text, pos, 2, day) &&
      (readChar(text, pos, 'T') || readChar(text, pos, 't')) && readDigits(text, pos, 2, hour) &&
      readChar(text, pos, ':') && readDigits(text, pos, 2, minute) && readChar(text, pos, ':') &&
      readDigits(text, pos, 2, second) && (!readChar(text, pos, '.') || readFraction(text, pos, fraction)) &&
      readOffset(text, pos, offset) && pos == text.size();
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!shaped || !date.ok() || hour > 23 || minute > 59 || second > 60) {
    return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not an RFC 3339 time", text.substr(0, 64)));
  }
  const WallTime midnight = std::chrono::sys_days{date};
  const WallTime moment = midnight + hours{hour} + minutes{minute} + seconds{second} + fraction - offset;
  // The offset may move the time outside the representable years.
  if (moment < kFirstMoment || moment >= kEndOfTime) {
    return fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is outside the years 0 to 9999", text.substr(0, 64)));
  }
  return moment;
}

}  // namespace trainyard::base
