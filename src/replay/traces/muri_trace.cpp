#include "replay/traces/muri_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "replay/traces/csv.h"
#include "replay/traces/trace_units.h"

namespace trainyard::replay {
namespace {

using base::fail;
using base::Result;

// Iterations take longer by this factor than measured alone.
constexpr double kSlowdown = 1.015;
constexpr double kLongestMs = 1e13;
constexpr double kMaxIterations = 1e15;
constexpr double kLongestWork = 1e10;  // s

// The seconds to start a job, by its model and 1, 2, 4, 8, 16 or 32 GPUs.
double overheadOf(std::string_view model, int gpus) {
  static const std::map<std::string_view, std::array<double, 6>> kTable{
      {"vgg16", {7, 7, 8, 9, 9, 10}},    {"vgg19", {7, 7, 8, 9, 10, 10}},
      {"resnet18", {4, 5, 5, 7, 7, 7}},  {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
      {"a2c", {38, 39, 39, 46, 46, 46}}, {"dqn", {5, 5, 6, 6, 8, 8}},
  };
  const auto row = kTable.find(model);
  if (row == kTable.end()) return 10;
  std::size_t column = 0;
  while (column + 1 < row->second.size() && (1 << column) < gpus) ++column;
  return row->second[column];
}

enum Field { kId, kGpus, kSubmit, kIterations, kIterationTime, kModel, kFields };
using Columns = std::array<CsvTable::Column, kFields>;

Result<MuriJob> readJob(const CsvTable& table, std::size_t row, const Columns& columns, int gpus) {
  const auto submit = table.number(row, columns[kSubmit], 0, kLongestMs);
  if (!submit) return fail(submit.error());
  const auto iterations = table.number(row, columns[kIterations], 0, kMaxIterations);
  if (!iterations) return fail(iterations.error());
  const auto iteration = table.number(row, columns[kIterationTime], 0, kLongestMs);
  if (!iteration) return fail(iteration.error());
  const std::string_view model = table.text(row, columns[kModel]);
  if (model.empty()) return fail(table.error(row, columns[kModel], "missing"));
  MuriJob job{.submit = *submit / 1000,
              .work = *iterations * (*iteration * kSlowdown / 1000),
              .overhead = overheadOf(model, gpus)};
  if (job.work > kLongestWork) {
    return fail(table.error(
        row, columns[kIterations],
        fmt::format("so many iterations take {:.3g} s, more than {:.0g}", job.work, kLongestWork)));
  }
  return job;
}

}  // namespace

Result<MuriTrace> readMuriJobs(std::string file, std::string text) {
  const auto table = CsvTable::parse(std::move(file), std::move(text));
  if (!table) return fail(table.error());
  constexpr std::array<const char*, kFields> kNames{"job_id",     "num_gpu",        "submit_time",
                                                    "iterations", "iteration_time", "model_name"};
  Columns columns;
  for (std::size_t i = 0; i < kFields; ++i) {
    auto column = table->column(kNames[i]);
    if (!column) return fail(column.error());
    columns[i] = std::move(*column);
  }
  struct Read {
    MuriJob job;
    std::string id;
    int gpus = 0;
  };
  std::vector<Read> all;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto gpus = table->integer(row, columns[kGpus], 1, kMaxGpus);
    if (!gpus) return fail(gpus.error());
    const auto job = readJob(*table, row, columns, static_cast<int>(*gpus));
    if (!job) return fail(job.error());
    if (table->text(row, columns[kId]).empty()) return fail(table->error(row, columns[kId], "missing"));
    all.push_back({*job, std::string(table->text(row, columns[kId])), static_cast<int>(*gpus)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Read& a, const Read& b) { return a.job.submit < b.job.submit; });
  MuriTrace result;
  result.trace.queues = {"all"};
  const double first = all.empty() ? 0 : all.front().job.submit;
  for (Read& read : all) {
    read.job.submit -= first;
    const ReplayTime overhead = fromSeconds(read.job.overhead);
    result.trace.jobs.push_back(
        {.name = std::move(read.id), .gpus = read.gpus, .submitted = fromSeconds(read.job.submit)});
    result.trace.work.push_back(
        {.duration = fromSeconds(read.job.work), .startup = overhead, .resume = overhead});
    result.jobs.push_back(read.job);
  }
  auto finished = finishTrace(table->file(), std::move(result.trace));
  if (!finished) return fail(finished.error());
  result.trace = std::move(*finished);
  return result;
}

}  // namespace trainyard::replay
