#include "replay/papers/openb.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "replay/papers/openb_published.h"
#include "replay/traces/csv.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using core::TaskShape;

constexpr std::int64_t kMaxCpu = 100'000'000;       // 100,000 cores
constexpr std::int64_t kMaxMemory = 1'000'000'000;  // MiB
constexpr std::size_t kMaxModels = 63;

// GPU models as bits. A model that no node has gets a bit too, and pods that request it fit nowhere.
class Models {
 public:
  // Returns 0 if there are too many models.
  std::uint64_t bit(std::string_view model) {
    const auto [at, added] = known_.try_emplace(std::string(model), known_.size());
    return at->second < kMaxModels ? std::uint64_t{1} << at->second : 0;
  }

 private:
  std::map<std::string, std::size_t, std::less<>> known_;
};

constexpr ReplayPlacement kPlacements[] = {ReplayPlacement::kRandom, ReplayPlacement::kBestFit,
                                           ReplayPlacement::kFgd, ReplayPlacement::kDefault};

struct Named {
  std::string name;
  std::size_t row = 0;
};

// Returns the rows by name; a duplicate name is an error.
Result<std::vector<Named>> rowsByName(const CsvTable& table, const CsvTable::Column& column) {
  std::vector<Named> rows;
  std::set<std::string_view> seen;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string_view name = table.text(row, column);
    if (name.empty()) return fail(table.error(row, column, "is empty"));
    if (!seen.insert(name).second)
      return fail(table.error(row, column, fmt::format("{} occurs twice", name)));
    rows.push_back({std::string(name), row});
  }
  std::sort(rows.begin(), rows.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
  return rows;
}

Result<std::vector<DeviceNode>> readNodes(const CsvTable& table, Models& models) {
  const auto name = table.column("sn");
  if (!name) return fail(name.error());
  const auto cpu = table.column("cpu_milli");
  if (!cpu) return fail(cpu.error());
  const auto memory = table.column("memory_mib");
  if (!memory) return fail(memory.error());
  const auto gpus = table.column("gpu");
  if (!gpus) return fail(gpus.error());
  const auto model = table.column("model");
  if (!model) return fail(model.error());

  const auto rows = rowsByName(table, *name);
  if (!rows) return fail(rows.error());
  std::vector<DeviceNode> nodes;
  std::int64_t total = 0;
  for (const Named& each : *rows) {
    DeviceNode node;
    node.name = each.name;
    const auto cores = table.integer(each.row, *cpu, 0, kMaxCpu);
    if (!cores) return fail(cores.error());
    const auto mebibytes = table.integer(each.row, *memory, 0, kMaxMemory);
    if (!mebibytes) return fail(mebibytes.error());
    const auto count = table.integer(each.row, *gpus, 0, core::DeviceCapacity::kMaxShared);
    if (!count) return fail(count.error());
    node.available.cpu = *cores;
    node.available.memory = *mebibytes;
    node.available.whole = *count;
    const std::string_view kind = table.text(each.row, *model);
    if (*count > 0 && kind.empty())
      return fail(table.error(each.row, *model, "is empty for a node with GPUs"));
    if (!kind.empty()) {
      node.available.model = models.bit(kind);
      if (node.available.model == 0)
        return fail(table.error(each.row, *model, fmt::format("more than {} models", kMaxModels)));
    }
    total += *count;
    nodes.push_back(std::move(node));
  }
  if (total == 0) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: no node has a GPU", table.file()));
  }
  return nodes;
}

// Returns the bits of "V100M16|V100M32"; 0 for "".
Result<std::uint64_t> readModels(const CsvTable& table, std::size_t row, const CsvTable::Column& column,
                                 Models& models) {
  std::string_view rest = table.text(row, column);
  std::uint64_t bits = 0;
  if (rest.empty()) return bits;
  while (true) {
    const std::size_t bar = rest.find('|');
    const std::string_view model = rest.substr(0, bar);
    if (model.empty()) return fail(table.error(row, column, "names an empty model"));
    const std::uint64_t bit = models.bit(model);
    if (bit == 0) return fail(table.error(row, column, fmt::format("more than {} models", kMaxModels)));
    bits |= bit;
    if (bar == std::string_view::npos) return bits;
    rest.remove_prefix(bar + 1);
  }
}

struct PodColumns {
  CsvTable::Column cpu, memory, gpus, milli;
  std::optional<CsvTable::Column> models;
};

Result<TaskShape> readShape(const CsvTable& table, std::size_t row, const PodColumns& columns,
                            Models& models) {
  TaskShape task;
  const auto cpu = table.integer(row, columns.cpu, 0, kMaxCpu);
  if (!cpu) return fail(cpu.error());
  const auto memory = table.integer(row, columns.memory, 0, kMaxMemory);
  if (!memory) return fail(memory.error());
  const auto gpus = table.integer(row, columns.gpus, 0, core::DeviceCapacity::kMaxShared);
  if (!gpus) return fail(gpus.error());
  const auto milli = table.integer(row, columns.milli, 0, core::kWholeDevice);
  if (!milli) return fail(milli.error());
  if (*gpus == 0 && *milli != 0)
    return fail(table.error(row, columns.milli, "must be 0 for a pod without GPUs"));
  if (*gpus == 1 && *milli == 0)
    return fail(table.error(row, columns.milli, "must be at least 1 for a pod with a GPU"));
  if (*gpus > 1 && *milli != core::kWholeDevice)
    return fail(table.error(row, columns.milli, "must be 1000 for a pod with several GPUs"));
  Result<std::uint64_t> bits = 0;
  if (columns.models) bits = readModels(table, row, *columns.models, models);
  if (!bits) return fail(bits.error());
  task.cpu = *cpu;
  task.memory = *memory;
  task.devices = *gpus;
  task.perDevice = *gpus == 0 ? core::kWholeDevice : *milli;
  task.models = *gpus == 0 ? 0 : *bits;
  return task;
}

Result<PodColumns> podColumns(const CsvTable& table) {
  PodColumns columns;
  const std::pair<const char*, CsvTable::Column*> wanted[] = {{"cpu_milli", &columns.cpu},
                                                              {"memory_mib", &columns.memory},
                                                              {"num_gpu", &columns.gpus},
                                                              {"gpu_milli", &columns.milli}};
  for (const auto& [name, into] : wanted) {
    auto column = table.column(name);
    if (!column) return fail(column.error());
    *into = std::move(*column);
  }
  // The lists in which some pods request several GPUs have no such column.
  if (auto column = table.column("gpu_spec")) columns.models = std::move(*column);
  return columns;
}

// Returns the offered pods, in order.
std::vector<std::size_t> arrivals(const OpenbTrace& trace, std::int64_t capacity, base::Rng& rng) {
  std::vector<std::size_t> offered = trace.pods;
  for (std::size_t i = offered.size(); i > 1; --i) std::swap(offered[i - 1], offered[rng.below(i)]);
  const std::int64_t wanted =
      capacity / 100 * kOpenbArrivalsPercent + capacity % 100 * kOpenbArrivalsPercent / 100;
  std::int64_t demand = 0;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const std::int64_t more = trace.kinds[offered[i]].deviceAmount();
    // The list itself exceeds the demand: the rest of it is not offered.
    if (demand + more > wanted) {
      offered.resize(i);
      return offered;
    }
    demand += more;
  }
  while (true) {
    const std::size_t kind = trace.pods[rng.below(trace.pods.size())];
    const std::int64_t more = trace.kinds[kind].deviceAmount();
    if (demand + more > wanted) return offered;
    demand += more;
    offered.push_back(kind);
  }
}

}  // namespace

Result<OpenbTrace> readOpenb(std::string nodesFile, std::string nodesText, std::string podsFile,
                             std::string podsText) {
  const auto nodeTable = CsvTable::parse(std::move(nodesFile), std::move(nodesText));
  if (!nodeTable) return fail(nodeTable.error());
  const auto podTable = CsvTable::parse(std::move(podsFile), std::move(podsText));
  if (!podTable) return fail(podTable.error());

  Models models;
  OpenbTrace trace;
  auto nodes = readNodes(*nodeTable, models);
  if (!nodes) return fail(nodes.error());
  trace.nodes = std::move(*nodes);

  const auto name = podTable->column("name");
  if (!name) return fail(name.error());
  const auto columns = podColumns(*podTable);
  if (!columns) return fail(columns.error());
  const auto rows = rowsByName(*podTable, *name);
  if (!rows) return fail(rows.error());
  std::map<TaskShape, std::size_t> known;
  bool anyGpu = false;
  for (const Named& each : *rows) {
    const auto shape = readShape(*podTable, each.row, *columns, models);
    if (!shape) return fail(shape.error());
    const auto [at, added] = known.try_emplace(*shape, trace.kinds.size());
    if (added) {
      trace.kinds.push_back(*shape);
      trace.counts.push_back(0);
    }
    ++trace.counts[at->second];
    trace.pods.push_back(at->second);
    anyGpu = anyGpu || shape->devices > 0;
  }
  // Without such a pod, the demand would never reach its target.
  if (!anyGpu) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: no pod wants a GPU", podTable->file()));
  }
  return trace;
}

OpenbResult replayOpenb(const OpenbTrace& trace, ReplayPlacement placement, std::uint64_t seed) {
  base::Rng rng(seed);
  base::Rng placing = rng.split();
  DeviceCluster cluster(trace.nodes, trace.kinds, trace.counts, placement, placing.next());
  OpenbResult result;
  result.capacity = cluster.capacity();
  for (const std::size_t kind : arrivals(trace, result.capacity, rng)) {
    result.arrived += trace.kinds[kind].deviceAmount();
    while (static_cast<std::int64_t>(result.allocatedAt.size()) * result.capacity < result.arrived * 100)
      result.allocatedAt.push_back(cluster.allocated());
    ++result.offered;
    if (cluster.offer(kind)) ++result.placed;
  }
  result.allocated = cluster.allocated();
  while (result.allocatedAt.size() <= kOpenbArrivalsPercent) result.allocatedAt.push_back(result.allocated);
  return result;
}

Result<ReplayResult> runOpenb(const ReplayOptions& options, const ReplayOutside& outside) {
  if (parseClusterShape(options.cluster)) {
    return fail(ErrorCode::kInvalid,
                "--cluster must be a file of nodes for --format openb: its pods ask for cpu and memory, too");
  }
  auto nodes = outside.readFile(options.cluster);
  if (!nodes) return fail(nodes.error());
  auto pods = outside.readFile(options.jobsFile);
  if (!pods) return fail(pods.error());
  const auto trace = readOpenb(options.cluster, std::move(*nodes), options.jobsFile, std::move(*pods));
  if (!trace) return fail(trace.error());

  ReplayResult result;
  bool anyPublished = false;
  for (const ReplayPlacement placement : kPlacements) {
    ReplayAllocation column{placement, 0, openbPublished(*trace, placement).value_or(0), {}};
    anyPublished = anyPublished || column.published > 0;
    column.byArrivals.assign(kOpenbArrivalsPercent + 1, 0);
    for (std::size_t i = 0; i < options.seeds; ++i) {
      const OpenbResult one = replayOpenb(*trace, placement, options.seed + i);
      const double unit = static_cast<double>(one.capacity) * static_cast<double>(options.seeds);
      for (std::size_t percent = 0; percent < column.byArrivals.size(); ++percent)
        column.byArrivals[percent] += static_cast<double>(one.allocatedAt[percent]) / unit;
      column.gpuAllocation += static_cast<double>(one.allocated) / unit;
      result.capacity = one.capacity / core::kWholeDevice;
      if (i == 0) result.jobs = one.offered;
      outside.progress(result.allocations.size() * options.seeds + i + 1,
                       std::size(kPlacements) * options.seeds);
    }
    if (placement == options.placement) result.gpuAllocation = column.gpuAllocation;
    result.allocations.push_back(std::move(column));
  }
  result.notes.push_back(
      fmt::format("Mean of {} {} of the pods, from seed {} on. Nothing leaves and what fits nowhere is "
                  "dropped, so there are no times.",
                  options.seeds, options.seeds == 1 ? "shuffle" : "shuffles", options.seed));
  if (anyPublished)
    result.notes.emplace_back(
        "Published: the paper's simulator, default pods, mean of its ten shuffles (another generator).");
  return result;
}

}  // namespace trainyard::replay
