#include "cli/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/plain_text.h"
#include "model/message_text.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kGap = 3;

}  // namespace

std::string formatTable(std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = plainText(cell, false);
  }
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    if (widths.size() < row.size()) widths.resize(row.size(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}", row[i], widths[i] + kGap);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string formatAge(base::WallTime since, base::WallTime now) {
  using namespace std::chrono;
  const auto age = std::max(floor<seconds>(now - since), seconds(0));
  if (age < minutes(2)) return fmt::format("{}s", age.count());
  if (age < hours(1)) return fmt::format("{}m", floor<minutes>(age).count());
  if (age < days(1)) {
    const auto whole = floor<hours>(age);
    const auto rest = floor<minutes>(age - whole);
    if (rest.count() == 0 || whole >= hours(10)) return fmt::format("{}h", whole.count());
    return fmt::format("{}h{}m", whole.count(), rest.count());
  }
  return fmt::format("{}d", floor<days>(age).count());
}

std::string withoutAges(const std::string& text) {
  // Matches the output of formatAge() and the padding behind it, which depends on its length.
  static const re2::RE2 age(R"(\b[0-9]+[smhd]([0-9]+m)?\b *)");
  std::string same = text;
  re2::RE2::GlobalReplace(&same, age, "#");
  return same;
}

std::string formatWork(std::int64_t gpuSeconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 3600;
  if (gpuSeconds < 2 * kMinute) return model::counted(gpuSeconds, "GPU second");
  if (gpuSeconds < 2 * kHour) return model::counted(gpuSeconds / kMinute, "GPU minute");
  const std::int64_t tenths = gpuSeconds / (kHour / 10);
  return fmt::format("{}.{} GPU hours", tenths / 10, tenths % 10);
}

}  // namespace trainyard::cli
