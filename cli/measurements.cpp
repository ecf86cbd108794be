#include "cli/measurements.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "replay/traces/csv.h"

namespace trainyard::cli {
namespace {

using base::ErrorCode;
using base::Result;
using replay::CsvTable;
using Column = CsvTable::Column;

constexpr int kMaxWorkers = 10'000;
constexpr std::int64_t kMaxBatch = 1'000'000'000;
constexpr double kMinSeconds = 1e-6;
constexpr double kMaxSeconds = 100'000;
constexpr double kNano = 1e9;
constexpr std::size_t kMaxRows = 1'000;

// Returns the column of the first of these names that the table has.
Result<Column> columnOf(const CsvTable& table, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (auto column = table.column(name)) return column;
  }
  return table.column(*names.begin());
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= kMaxWorkers ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<int>> parsePlacement(std::string_view text) {
  std::vector<int> workers;
  if (const std::size_t times = text.find('x'); times != std::string_view::npos) {
    const auto each = number(text.substr(0, times));
    const auto nodes = number(text.substr(times + 1));
    if (!each || !nodes) return std::nullopt;
    workers.assign(static_cast<std::size_t>(*nodes), *each);
    return workers;
  }
  const bool joined = text.find('+') != std::string_view::npos;
  while (!text.empty()) {
    const std::size_t length = joined ? std::min(text.find('+'), text.size()) : 1;
    const auto each = number(text.substr(0, length));
    if (!each) return std::nullopt;
    workers.push_back(*each);
    text.remove_prefix(std::min(length + (joined ? 1 : 0), text.size()));
  }
  return workers.empty() ? std::nullopt : std::optional(workers);
}

class Reader {
 public:
  explicit Reader(CsvTable table) : table_(std::move(table)) {}

  Result<std::vector<model::MeasuredStep>> run() {
    const auto placement = columnOf(table_, {"placement"});
    if (!placement) return base::fail(placement.error());
    const auto batch = columnOf(table_, {"batch", "batch_per_worker", "local_bsz"});
    if (!batch) return base::fail(batch.error());
    const auto seconds = columnOf(table_, {"step_seconds", "step_time"});
    if (!seconds) return base::fail(seconds.error());
    if (table_.rows() == 0 || table_.rows() > kMaxRows) {
      return base::fail(ErrorCode::kInvalid, fmt::format("{}: needs 1 to {} measured steps, has {}",
                                                         table_.file(), kMaxRows, table_.rows()));
    }
    std::vector<model::MeasuredStep> steps;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      auto step = read(row, *placement, *batch, *seconds);
      if (!step) return base::fail(step.error());
      steps.push_back(std::move(*step));
    }
    return steps;
  }

 private:
  Result<model::MeasuredStep> read(std::size_t row, const Column& placement, const Column& batch,
                                   const Column& seconds) const {
    model::MeasuredStep step;
    auto workers = parsePlacement(table_.text(row, placement));
    if (!workers) {
      return base::fail(table_.error(row, placement,
                                     "must be workers by node, as 22, 8+8 or 16x1 (16 workers on one node)"));
    }
    step.workers = std::move(*workers);
    const auto samples = table_.integer(row, batch, 1, kMaxBatch);
    if (!samples) return base::fail(samples.error());
    step.batchPerWorker = *samples;
    const auto time = table_.number(row, seconds, kMinSeconds, kMaxSeconds);
    if (!time) return base::fail(time.error());
    step.stepNanos = std::llround(*time * kNano);
    if (const auto servers = table_.column("servers")) {
      const auto count = table_.integer(row, *servers, 0, kMaxWorkers);
      if (!count) return base::fail(count.error());
      step.servers = static_cast<int>(*count);
    }
    if (const auto type = table_.column("gpu_type")) step.gpuType = table_.text(row, *type);
    return step;
  }

  CsvTable table_;
};

}  // namespace

Result<std::vector<model::MeasuredStep>> parseMeasurements(const std::string& text, const std::string& file) {
  auto table = CsvTable::parse(file, text);
  if (!table) return base::fail(table.error());
  return Reader(std::move(*table)).run();
}

}  // namespace trainyard::cli
