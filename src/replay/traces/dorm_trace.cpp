#include "replay/traces/dorm_trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "model/names.h"
#include "replay/traces/csv.h"
#include "replay/traces/trace_units.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr int kMaxContainers = 100'000;
constexpr int kMaxServerGpus = 1'000;
constexpr double kMaxCpus = 10'000;
constexpr double kMaxGib = 100'000;
constexpr double kLongestSeconds = 1e10;  // s
constexpr double kMillicores = 1'000;
constexpr double kGib = 1024.0 * 1024 * 1024;
// The cost of an application's start and of every resize: its state is saved, its containers are ended and
// started, and the state is read. It is the pause that Pollux (OSDI 2021) measured.
constexpr ReplayTime kPause = std::chrono::seconds(30);

// Reads the fields of a row by name; the first error is kept.
class DormRow {
 public:
  DormRow(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  double number(const char* name, double minimum, double most) {
    return take(name, [&](const auto& column) { return table_.number(row_, column, minimum, most); });
  }
  int whole(const char* name, int minimum, int most) {
    return static_cast<int>(
        take(name, [&](const auto& column) { return table_.integer(row_, column, minimum, most); }));
  }
  std::string text(const char* name) {
    return take(name, [&](const auto& column) -> Result<std::string> {
      const std::string_view text = table_.text(row_, column);
      if (text.empty()) return fail(table_.error(row_, column, "missing"));
      return std::string(text);
    });
  }
  [[nodiscard]] base::Error error(const char* name, std::string_view what) const {
    return table_.error(row_, *table_.column(name), what);
  }
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

 private:
  template <typename Read>
  auto take(const char* name, const Read& read) -> typename decltype(read(CsvTable::Column{}))::value_type {
    const auto column = table_.column(name);
    if (!column) {
      error_ = error_.value_or(column.error());
      return {};
    }
    auto value = read(*column);
    if (value) return std::move(*value);
    error_ = error_.value_or(value.error());
    return {};
  }

  const CsvTable& table_;
  std::size_t row_;
  std::optional<base::Error> error_;
};

Result<DormApplication> readApplication(const CsvTable& table, std::size_t index, const StaticSizes& sizes) {
  DormRow row(table, index);
  DormApplication read;
  read.name = row.text("application");
  read.container.cpu.value = std::llround(row.number("cpu", 0, kMaxCpus) * kMillicores);
  read.container.memory.value = std::llround(row.number("memory_gib", 0, kMaxGib) * kGib);
  read.container.setExtended(model::names::kGpuResource, row.whole("gpus", 0, kMaxServerGpus));
  read.minimum = row.whole("least", 1, kMaxContainers);
  read.most = row.whole("most", 1, kMaxContainers);
  read.desired = row.whole("wished", 1, kMaxContainers);
  read.scaling = row.number("scaling", 0, 1);
  if (row.error()) return fail(*row.error());
  if (read.minimum > read.desired || read.desired > read.most)
    return fail(row.error("wished", "not between least and most"));
  if (sizes.empty()) return read;
  const auto size = sizes.find(read.name);
  if (size == sizes.end())
    return fail(ErrorCode::kInvalid, fmt::format("--sizes does not name application {}", read.name));
  if (size->second < read.minimum || size->second > read.most) {
    return fail(ErrorCode::kInvalid, fmt::format("--sizes {}={}: it may have {} to {}", read.name,
                                                 size->second, read.minimum, read.most));
  }
  read.minimum = read.desired = read.most = size->second;
  return read;
}

Result<std::vector<DormApplication>> readApplications(std::string file, std::string text,
                                                      const StaticSizes& sizes) {
  const auto table = CsvTable::parse(std::move(file), std::move(text));
  if (!table) return fail(table.error());
  std::vector<DormApplication> all;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    auto read = readApplication(*table, i, sizes);
    if (!read) return fail(read.error());
    all.push_back(std::move(*read));
  }
  for (const auto& [name, size] : sizes) {
    const auto isIt = [&wanted = name](const DormApplication& each) { return each.name == wanted; };
    if (std::none_of(all.begin(), all.end(), isIt))
      return fail(ErrorCode::kInvalid,
                  fmt::format("--sizes {}={}: {} has no such application", name, size, table->file()));
  }
  return all;
}

}  // namespace

double scaledSpeed(int members, int of, double scaling) {
  return std::pow(static_cast<double>(members) / of, scaling);
}

Result<StaticSizes> parseStaticSizes(std::string_view text) {
  StaticSizes sizes;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view number = part.substr(std::min(equals + 1, part.size()));
    int size = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), size);
    const bool good = error == std::errc() && end == number.data() + number.size() && size >= 1 &&
                      size <= kMaxContainers && equals > 0;
    if (!good || !sizes.emplace(part.substr(0, equals), size).second)
      return fail(ErrorCode::kInvalid,
                  fmt::format("--sizes {}: must be like lr=8,mf=4, each application once", part));
  }
  return sizes;
}

Result<DormTrace> readDormJobs(const std::string& file, const StaticSizes& sizes,
                               const std::function<Result<std::string>(const std::string&)>& readFile) {
  auto text = readFile(file);
  if (!text) return fail(text.error());
  const auto table = CsvTable::parse(file, std::move(*text));
  if (!table) return fail(table.error());
  const std::string beside = (std::filesystem::path(file).parent_path() / "applications.csv").string();
  auto applications = readFile(beside);
  if (!applications) return fail(applications.error());
  auto kinds = readApplications(beside, std::move(*applications), sizes);
  if (!kinds) return fail(kinds.error());
  DormTrace result;
  result.applications = std::move(*kinds);
  result.trace.queues = {"all"};
  ReplayTime last{0};
  for (std::size_t i = 0; i < table->rows(); ++i) {
    DormRow row(*table, i);
    TraceJob facts{.name = row.text("name"),
                   .submitted = fromSeconds(row.number("submit_time", 0, kLongestSeconds))};
    const std::string application = row.text("application");
    const double work = row.number("work", 0, kLongestSeconds);
    if (row.error()) return fail(*row.error());
    const auto kind = std::find_if(result.applications.begin(), result.applications.end(),
                                   [&](const DormApplication& each) { return each.name == application; });
    if (kind == result.applications.end())
      return fail(row.error("application", fmt::format("{} is not in {}", application, beside)));
    if (facts.submitted < last) return fail(row.error("submit_time", "before the one above"));
    last = facts.submitted;
    facts.gpus = kind->desired * static_cast<int>(kind->container.gpus());
    result.trace.jobs.push_back(std::move(facts));
    result.trace.work.push_back({.duration = fromSeconds(work / scaledSpeed(kind->desired, 1, kind->scaling)),
                                 .startup = kPause,
                                 .resume = kPause});
    result.kinds.push_back(static_cast<std::size_t>(kind - result.applications.begin()));
  }
  auto finished = finishTrace(file, std::move(result.trace));
  if (!finished) return fail(finished.error());
  result.trace = std::move(*finished);
  return result;
}

}  // namespace trainyard::replay
