#include "replay/traces/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "replay/traces/csv.h"
#include "replay/traces/trace_units.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr int kMaxNodes = 100'000;
constexpr int kMaxGpusOfNode = 1'000;
// A bound of 300 years.
constexpr double kLongest = 1e10;
constexpr double kLongestAll = 3e12;
// The cost of a resume for a preempted job of Philly and ITP: the pause that Pollux (OSDI 2021) measured.
// Their durations include the first start-up.
constexpr ReplayTime kResume = std::chrono::seconds(30);

ReplayNode numberedNode(std::size_t at, int gpus) { return {fmt::format("node-{:05}", at), gpus}; }

std::vector<ReplayNode> equalNodes(std::int64_t nodes, std::int64_t gpus) {
  std::vector<ReplayNode> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(nodes); ++i)
    all.push_back(numberedNode(i, static_cast<int>(gpus)));
  return all;
}

std::optional<int> wholeNumber(std::string_view text, int most) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    return std::nullopt;
  return value;
}

// Converts "2017-10-09 07:01:55" to seconds. The cluster's local time, read without changes to summer time.
Result<double> timestamp(const CsvTable& table, std::size_t row, const CsvTable::Column& column) {
  const std::string_view text = table.text(row, column);
  const auto wrong = [&] {
    return fail(table.error(row, column, fmt::format("'{}' is not like 2017-10-09 07:01:55", text)));
  };
  constexpr std::string_view kForm = "0000-00-00 00:00:00";
  if (text.size() != kForm.size()) return wrong();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return wrong();
  }
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = 0;
    for (const char c : text.substr(at, length)) value = value * 10 + (c - '0');
    return value;
  };
  const auto two = [&](std::size_t at) { return static_cast<unsigned>(number(at, 2)); };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)), std::chrono::month(two(5)),
                                         std::chrono::day(two(8))};
  if (!date.ok() || two(11) > 23 || two(14) > 59 || two(17) > 59) return wrong();
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86'400 + two(11) * 3'600.0 + two(14) * 60.0 + two(17);
}

// Collects the sorted names, and each row's index among them.
void nameQueues(Trace& trace, const std::vector<std::string>& ofRows) {
  trace.queues = ofRows;
  std::sort(trace.queues.begin(), trace.queues.end());
  trace.queues.erase(std::unique(trace.queues.begin(), trace.queues.end()), trace.queues.end());
  for (std::size_t i = 0; i < ofRows.size(); ++i) {
    const auto at = std::lower_bound(trace.queues.begin(), trace.queues.end(), ofRows[i]);
    trace.jobs[i].queue = static_cast<std::uint32_t>(at - trace.queues.begin());
  }
}

// Sorts nodes by name, as ledgers do, so that both count alike.
Result<std::vector<ReplayNode>> sortedMachines(const CsvTable& table, std::vector<ReplayNode> nodes) {
  std::sort(nodes.begin(), nodes.end(),
            [](const ReplayNode& a, const ReplayNode& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(
      nodes.begin(), nodes.end(), [](const ReplayNode& a, const ReplayNode& b) { return a.name == b.name; });
  if (twice != nodes.end())
    return fail(ErrorCode::kInvalid, fmt::format("{}: machine {} occurs twice", table.file(), twice->name));
  return nodes;
}

Result<std::vector<ReplayNode>> readMachines(const CsvTable& table) {
  const auto name = table.column("machineId");
  if (!name) return fail(name.error());
  const auto gpus = table.column("number of GPUs");
  if (!gpus) return fail(gpus.error());
  std::vector<ReplayNode> nodes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto count = table.integer(row, *gpus, 1, kMaxGpusOfNode);
    if (!count) return fail(count.error());
    if (table.text(row, *name).empty()) return fail(table.error(row, *name, "a machine without a name"));
    nodes.push_back({std::string(table.text(row, *name)), static_cast<int>(*count)});
  }
  return sortedMachines(table, std::move(nodes));
}

Result<std::vector<ReplayNode>> readSwitches(const CsvTable& table) {
  std::vector<ReplayNode> nodes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::array<std::int64_t, 3> values{};
    const std::array<const char*, 3> names{"num_switch", "num_node_p_switch", "num_gpu_p_node"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto column = table.column(names[i]);
      if (!column) return fail(column.error());
      const auto value = table.integer(row, *column, 1, i == 2 ? kMaxGpusOfNode : kMaxNodes);
      if (!value) return fail(value.error());
      values[i] = *value;
    }
    const std::int64_t count = values[0] * values[1];
    if (count + static_cast<std::int64_t>(nodes.size()) > kMaxNodes)
      return fail(ErrorCode::kInvalid, fmt::format("{}: more than {} nodes", table.file(), kMaxNodes));
    for (std::int64_t i = 0; i < count; ++i)
      nodes.push_back(numberedNode(nodes.size(), static_cast<int>(values[2])));
  }
  return nodes;
}

Result<std::vector<ReplayNode>> readServers(const CsvTable& table) {
  constexpr std::array<const char*, 4> kNames{"name", "cpu", "gpus", "memory_gib"};
  constexpr std::int64_t kMaxPods = 110;  // the kubelet's default
  constexpr double kMaxCpus = 10'000;
  constexpr double kMaxGib = 100'000;
  constexpr double kGib = 1024.0 * 1024 * 1024;
  std::array<CsvTable::Column, kNames.size()> columns;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    auto column = table.column(kNames[i]);
    if (!column) return fail(column.error());
    columns[i] = std::move(*column);
  }
  std::vector<ReplayNode> nodes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto cpu = table.number(row, columns[1], 0, kMaxCpus);
    if (!cpu) return fail(cpu.error());
    const auto gpus = table.integer(row, columns[2], 0, kMaxGpusOfNode);
    if (!gpus) return fail(gpus.error());
    const auto memory = table.number(row, columns[3], 0, kMaxGib);
    if (!memory) return fail(memory.error());
    model::Resources others;
    others.cpu.value = std::llround(*cpu * 1e3);
    others.memory.value = std::llround(*memory * kGib);
    others.pods = kMaxPods;
    nodes.push_back({std::string(table.text(row, columns[0])), static_cast<int>(*gpus), others});
  }
  return sortedMachines(table, std::move(nodes));
}

struct JobColumns {
  CsvTable::Column name, submitted, duration, gpus, queue;
};

Result<Trace> readJobs(const CsvTable& table, const char* submitted, const char* gpus, const char* name,
                       const char* queue, bool isDate) {
  JobColumns columns;
  const std::array<std::pair<const char*, CsvTable::Column*>, 5> wanted{{{name, &columns.name},
                                                                         {submitted, &columns.submitted},
                                                                         {"duration", &columns.duration},
                                                                         {gpus, &columns.gpus},
                                                                         {queue, &columns.queue}}};
  for (const auto& [title, target] : wanted) {
    if (title == nullptr) continue;
    auto column = table.column(title);
    if (!column) return fail(column.error());
    *target = std::move(*column);
  }
  Trace trace;
  std::vector<std::string> queues;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto at =
        isDate ? timestamp(table, row, columns.submitted) : table.number(row, columns.submitted, 0, kLongest);
    if (!at) return fail(at.error());
    const auto duration = table.number(row, columns.duration, 0, kLongest);
    if (!duration) return fail(duration.error());
    const auto count = table.integer(row, columns.gpus, 1, kMaxGpus);
    if (!count) return fail(count.error());
    for (const auto& [title, column] : wanted) {
      if (title != nullptr && table.text(row, *column).empty())
        return fail(table.error(row, *column, "missing"));
    }
    queues.emplace_back(queue == nullptr ? std::string_view("all") : table.text(row, columns.queue));
    trace.jobs.push_back(
        {.name = name == nullptr ? fmt::format("job-{:06}", row) : std::string(table.text(row, columns.name)),
         .gpus = static_cast<int>(*count),
         .submitted = fromSeconds(*at)});
    trace.work.push_back({.duration = fromSeconds(*duration), .startup = {}, .resume = kResume});
  }
  nameQueues(trace, queues);
  return finishTrace(table.file(), std::move(trace));
}

}  // namespace

Result<std::vector<ReplayNode>> parseClusterShape(std::string_view text) {
  const auto cross = text.find('x');
  if (cross != std::string_view::npos) {
    const auto nodes = wholeNumber(text.substr(0, cross), kMaxNodes);
    const auto gpus = wholeNumber(text.substr(cross + 1), kMaxGpusOfNode);
    if (nodes && gpus) return equalNodes(*nodes, *gpus);
  }
  return fail(
      ErrorCode::kInvalid,
      fmt::format("'{}' is not a cluster: NODESxGPUS, as 8x8, with at most {} nodes of at most {} GPUs", text,
                  kMaxNodes, kMaxGpusOfNode));
}

Result<std::vector<ReplayNode>> readClusterFile(std::string file, std::string text) {
  const auto table = CsvTable::parse(std::move(file), std::move(text));
  if (!table) return fail(table.error());
  auto nodes = table->column("num_switch")   ? readSwitches(*table)
               : table->column("memory_gib") ? readServers(*table)
                                             : readMachines(*table);
  if (nodes && nodes->empty()) return fail(ErrorCode::kInvalid, fmt::format("{}: no nodes", table->file()));
  return nodes;
}

Result<Trace> readPhillyJobs(std::string file, std::string text) {
  const auto table = CsvTable::parse(std::move(file), std::move(text));
  if (!table) return fail(table.error());
  return readJobs(*table, "timestamp", "num_gpus", nullptr, "cluster", true);
}

Result<Trace> readItpJobs(std::string file, std::string text) {
  const auto table = CsvTable::parse(std::move(file), std::move(text));
  if (!table) return fail(table.error());
  return readJobs(*table, "submission_time", "num_gpu", "job_id", nullptr, false);
}

Result<Trace> finishTrace(std::string_view file, Trace trace) {
  if (trace.jobs.empty()) return fail(ErrorCode::kInvalid, fmt::format("{}: no jobs", file));
  std::vector<std::size_t> order(trace.jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return trace.jobs[a].submitted < trace.jobs[b].submitted;
  });
  const ReplayTime first = trace.jobs[order.front()].submitted;
  Trace sorted;
  sorted.queues = std::move(trace.queues);
  double all = 0;
  for (const std::size_t i : order) {
    sorted.jobs.push_back(std::move(trace.jobs[i]));
    sorted.jobs.back().submitted -= first;
    sorted.work.push_back(trace.work[i]);
    all += std::chrono::duration<double>(trace.work[i].duration).count();
  }
  all += std::chrono::duration<double>(sorted.jobs.back().submitted).count();
  if (all > kLongestAll)
    return fail(
        ErrorCode::kInvalid,
        fmt::format("{}: its jobs, one after the other, take {:.3g} s: more than can be counted", file, all));
  return sorted;
}

}  // namespace trainyard::replay
