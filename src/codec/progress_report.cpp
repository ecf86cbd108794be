#include "codec/progress_report.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "codec/json_value.h"

namespace trainyard::codec {
namespace {

using model::Progress;

// Larger than any training reaches, and exact as a double.
constexpr double kMaxSteps = 1e15;
constexpr double kMaxSamplesPerSecond = 1e12;
constexpr double kLongestRemaining = 10.0 * 365 * 86'400;
constexpr double kMaxReplicas = 100'000;
constexpr double kLongestStep = 1e6;  // seconds
constexpr std::size_t kMaxRanks = 4'096;
constexpr int kMaxSlowdown = 1'000'000;
// As in the schema.
constexpr std::size_t kMaxMetrics = 32;
constexpr std::size_t kLongestName = 63;
constexpr std::size_t kLongestValue = 64;

// Accepts any JSON number, and nothing else.
std::optional<double> numberOf(const JsonValue& value) {
  if (const auto integer = value.integer()) return static_cast<double>(*integer);
  if (value.type() != JsonType::kReal) return std::nullopt;
  const std::string text = value.minified();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<double> numberIn(const JsonValue& value, double least, double most) {
  const auto number = numberOf(value);
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

// Truncates fractions, because some frameworks print steps as 120.0.
std::optional<std::int64_t> wholeIn(const JsonValue& value, double least, double most) {
  const auto number = numberIn(value, least, most);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

// Compares the slowest rank with the median. Names of ranks are their numbers.
bool takeRanks(const JsonValue& ranks, Progress& progress) {
  std::vector<std::pair<double, int>> times;
  bool tooMany = false;
  ranks.forEachMember([&](std::string_view name, const JsonValue& value) {
    int rank = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
    const bool isRank = error == std::errc() && end == name.data() + name.size() && rank >= 0 &&
                        rank < static_cast<int>(kMaxReplicas);
    const auto seconds = numberIn(value, 0, kLongestStep);
    if (!isRank || !seconds) return;
    tooMany = tooMany || times.size() == kMaxRanks;
    if (!tooMany) times.emplace_back(*seconds, -rank);  // of equal times the lower rank
  });
  if (times.size() < 2 || tooMany) return false;
  std::sort(times.begin(), times.end());
  const double median = times[(times.size() - 1) / 2].first;
  const auto& [slowest, rank] = times.back();
  progress.slowestRank = -rank;
  const double slowdown = median > 0 ? slowest / median * 1000 : slowest > 0 ? kMaxSlowdown : 1000;
  progress.slowdownPermille = static_cast<int>(std::lround(std::min<double>(slowdown, kMaxSlowdown)));
  return true;
}

bool isName(std::string_view name) {
  const auto fine = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-' || c == '/';
  };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), fine);
}

// Takes another value under its name.
bool takeMetric(std::string_view name, const JsonValue& value, Progress& progress) {
  if (!isName(name) || !numberOf(value)) return false;
  std::string text = value.minified();
  if (text.size() > kLongestValue) return false;
  const auto at =
      std::lower_bound(progress.metrics.begin(), progress.metrics.end(), name,
                       [](const auto& each, std::string_view wanted) { return each.first < wanted; });
  if (at != progress.metrics.end() && at->first == name) {
    at->second = std::move(text);
    return true;
  }
  if (progress.metrics.size() >= kMaxMetrics) return false;
  progress.metrics.emplace(at, std::string(name), std::move(text));
  return true;
}

template <typename To, typename From>
bool take(To& to, const std::optional<From>& value) {
  if (value) to = static_cast<From>(*value);
  return value.has_value();
}

bool takeField(std::string_view name, const JsonValue& value, base::WallTime at, Progress& progress) {
  if (name == "step") return take(progress.step, wholeIn(value, 0, kMaxSteps));
  if (name == "totalSteps") return take(progress.totalSteps, wholeIn(value, 1, kMaxSteps));
  if (name == "noiseSamples") return take(progress.noiseSamples, wholeIn(value, 1, kMaxSteps));
  if (name == "remainingSeconds")
    return take(progress.remainingSeconds, wholeIn(value, 0, kLongestRemaining));
  if (name == "samplesPerSecond") {
    const auto number = numberIn(value, 0, kMaxSamplesPerSecond);
    if (number) progress.milliSamplesPerSecond = std::llround(*number * 1000);
    return number.has_value();
  }
  if (name == "replicas") {
    const auto number = wholeIn(value, 1, kMaxReplicas);
    if (number) progress.replicas = static_cast<int>(*number);
    return number.has_value();
  }
  if (name == "checkpoint") {
    const auto text = value.string();
    const auto time = text ? base::parseTime(*text) : base::Result<base::WallTime>(base::WallTime{});
    if (!text || !time || *time <= base::WallTime{}) return false;
    progress.lastCheckpoint = std::chrono::floor<std::chrono::seconds>(std::min(*time, at));
    return true;
  }
  if (name == "ranks") return takeRanks(value, progress);
  return takeMetric(name, value, progress);
}

struct Line {
  std::optional<base::WallTime> time;
  std::string_view text;
};

// Splits off the time and the blank that the kubelet writes before each line.
Line splitTime(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank < 20 || blank > 40) return {std::nullopt, line};
  const auto time = base::parseTime(line.substr(0, blank));
  if (!time) return {std::nullopt, line};
  return {*time, line.substr(blank + 1)};
}

}  // namespace

bool readReport(std::string_view line, base::WallTime at, Progress& progress) {
  const std::size_t mark = line.find(kProgressMark);
  if (mark == std::string_view::npos || line.size() > kLongestReport) return false;
  std::string_view json = line.substr(mark + kProgressMark.size());
  // Loggers may append colours and other text; an object ends with its brace.
  const std::size_t begin = json.find('{');
  const std::size_t end = json.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return false;
  json = json.substr(begin, end + 1 - begin);
  const auto document = JsonDocument::parse(json);
  if (!document || document->root().type() != JsonType::kObject) return false;
  Progress taken = progress;
  // Each report gives the remaining time, or it follows from the steps; an old value is dropped.
  taken.remainingSeconds.reset();
  bool any = false;
  bool speed = false;
  document->root().forEachMember([&](std::string_view name, const JsonValue& value) {
    if (!takeField(name, value, at, taken)) return;
    any = true;
    speed = speed || name == "samplesPerSecond";
  });
  if (!any) return false;
  // The speed at one size does not apply to another size.
  if (!speed && progress.replicas != 0 && taken.replicas != progress.replicas)
    taken.milliSamplesPerSecond.reset();
  taken.at = std::chrono::floor<std::chrono::seconds>(at);
  progress = std::move(taken);
  return true;
}

LogTail readLogTail(std::string_view log, base::WallTime after, base::WallTime now, Progress& progress) {
  LogTail tail;
  std::string_view last;
  while (!log.empty()) {
    const std::size_t newline = log.find('\n');
    const std::string_view whole = log.substr(0, newline);
    log.remove_prefix(newline == std::string_view::npos ? log.size() : newline + 1);
    if (whole.empty()) continue;
    last = whole;
    // Only lines with the mark are parsed; other lines count only as the last line.
    if (whole.find(kProgressMark) == std::string_view::npos) continue;
    const Line line = splitTime(whole);
    const base::WallTime at = std::min(line.time.value_or(now), now);
    if (line.time && at <= after) continue;
    tail.reported = readReport(line.text, at, progress) || tail.reported;
  }
  if (last.empty()) return tail;
  tail.fingerprint = std::hash<std::string_view>{}(last);
  if (const auto time = splitTime(last).time) tail.lastLine = std::min(*time, now);
  return tail;
}

}  // namespace trainyard::codec
