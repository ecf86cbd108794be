#include "replay/traces/pollux_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "replay/traces/csv.h"
#include "replay/traces/trace_units.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr double kLargest = 1e30;
// Clusters larger than measured behave as the largest measured one.
constexpr int kMaxMeasuredNodes = 16;
// The artifact's pause for every change of an allocation.
constexpr ReplayTime kResizePause = std::chrono::seconds(30);

struct Facts {
  std::string_view name;
  int minBatch = 0;  // global; measured ones double from here
  int maxBatch = 0;
  std::size_t epochs = 0;
  int maxLocal = 0;  // 0: as large as the table of placements
};
constexpr std::array<Facts, 6> kApplications{{{"cifar10", 128, 4096, 100, 0},
                                              {"imagenet", 200, 12800, 90, 0},
                                              {"bert", 12, 384, 2, 0},
                                              {"deepspeech2", 20, 640, 80, 0},
                                              {"yolov3", 8, 512, 50, 8},
                                              {"ncf", 256, 32768, 10, 0}}};

StepTime between(const StepTime& a, const StepTime& b, double part) {
  return {a.step + (b.step - a.step) * part, a.sync + (b.sync - a.sync) * part};
}

// Returns the smallest of all rotations: 41 is equivalent to 14.
PolluxPlacement rotated(PolluxPlacement placement) {
  PolluxPlacement best = placement;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    std::rotate(placement.begin(), placement.begin() + 1, placement.end());
    best = std::min(best, placement);
  }
  return best;
}

// Returns the entries of a map around a key, and the key's relative position between them.
template <typename T>
std::tuple<const T*, const T*, double> around(const std::map<int, T>& map, int key) {
  auto above = map.lower_bound(key);
  if (above == map.end()) --above;
  auto below = above;
  if (below->first > key && below != map.begin()) --below;
  const double part = above->first == below->first
                          ? 0
                          : static_cast<double>(key - below->first) / (above->first - below->first);
  return {&below->second, &above->second, std::clamp(part, 0.0, 1.0)};
}

// Reads numbers of a row; the first one that is invalid is the error.
class PolluxRow {
 public:
  PolluxRow(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}
  double number(const char* column, double least, double most) {
    return get<double>(column,
                       [&](const CsvTable::Column& at) { return table_.number(row_, at, least, most); });
  }
  int whole(const char* column, std::int64_t least, std::int64_t most) {
    return static_cast<int>(get<std::int64_t>(
        column, [&](const CsvTable::Column& at) { return table_.integer(row_, at, least, most); }));
  }
  std::string text(const char* column) {
    return get<std::string>(column, [&](const CsvTable::Column& at) -> Result<std::string> {
      if (table_.text(row_, at).empty()) return fail(table_.error(row_, at, "missing"));
      return std::string(table_.text(row_, at));
    });
  }
  void refuse(const char* column, const std::string& what) {
    if (!error_) error_ = table_.error(row_, *table_.column(column), what);
  }
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

 private:
  template <typename T, typename Read>
  T get(const char* column, Read read) {
    const auto at = table_.column(column);
    auto value = at ? read(*at) : Result<T>(fail(at.error()));
    if (value) return *value;
    if (!error_) error_ = value.error();
    return T{};
  }

  const CsvTable& table_;
  std::size_t row_;
  std::optional<base::Error> error_;
};

}  // namespace

Result<PolluxApplication> PolluxApplication::read(
    const std::string& name, const std::string& folder,
    const std::function<Result<std::string>(const std::string&)>& readFile) {
  const auto facts = std::find_if(kApplications.begin(), kApplications.end(),
                                  [&](const Facts& each) { return each.name == name; });
  if (facts == kApplications.end())
    return fail(ErrorCode::kInvalid, fmt::format("nothing is known of the application '{}'", name));
  PolluxApplication application;
  application.minBatch_ = facts->minBatch;
  application.maxBatch_ = facts->maxBatch;
  const auto use = [&](const std::string& file, auto with) -> Result<void> {
    auto text = readFile(file);
    if (!text) return fail(text.error());
    return with(file, std::move(*text));
  };
  auto good = use(folder + "/placements.csv", [&](const std::string& file, std::string text) {
    return application.readPlacements(file, std::move(text));
  });
  if (good) {
    good = use(folder + "/scalability.csv", [&](const std::string& file, std::string text) {
      return application.readScalability(file, std::move(text));
    });
  }
  for (int batch = facts->minBatch; good && batch <= facts->maxBatch; batch *= 2) {
    good = use(fmt::format("{}/validation-{}.csv", folder, batch),
               [&](const std::string& file, std::string text) {
                 return application.readValidation(batch, facts->epochs, file, std::move(text));
               });
  }
  if (!good) return fail(good.error());
  if (facts->maxLocal != 0) application.maxLocal_ = facts->maxLocal;
  return application;
}

Result<void> PolluxApplication::readPlacements(const std::string& file, std::string text) {
  const auto table = CsvTable::parse(file, std::move(text));
  if (!table) return fail(table.error());
  std::map<std::pair<int, int>, std::map<int, std::vector<StepTime>>> shapes;  // then by batch size
  for (std::size_t i = 0; i < table->rows(); ++i) {
    PolluxRow row(*table, i);
    PolluxPlacement placement;
    int gpus = 0;
    for (const char digit : row.text("placement")) {
      if (digit < '1' || digit > '9') row.refuse("placement", "not the GPUs of nodes, one digit each");
      placement.push_back(digit - '0');
      gpus += digit - '0';
    }
    const int local = row.whole("local_bsz", 1, kMaxGpus);
    const StepTime time{row.number("step_time", 0, kLargest), row.number("sync_time", 0, kLargest)};
    if (time.sync > time.step) row.refuse("sync_time", "longer than the whole step");
    if (row.error()) return fail(*row.error());
    placements_[rotated(placement)].push_back({static_cast<double>(local), time});
    shapes[{static_cast<int>(placement.size()), gpus}][local].push_back(time);
    maxLocal_ = std::max(maxLocal_, local);
  }
  if (placements_.empty()) return fail(ErrorCode::kInvalid, file + ": no placements");
  for (auto& [placement, curve] : placements_) {
    std::sort(curve.begin(), curve.end(),
              [](const Point& a, const Point& b) { return a.localBatch < b.localBatch; });
  }
  for (const auto& [shape, batches] : shapes) {
    for (const auto& [local, times] : batches) {
      StepTime sum;
      for (const StepTime& time : times) sum = {sum.step + time.step, sum.sync + time.sync};
      const auto count = static_cast<double>(times.size());
      shapes_[shape.first][shape.second].push_back(
          {static_cast<double>(local), {sum.step / count, sum.sync / count}});
    }
  }
  return {};
}

Result<void> PolluxApplication::readScalability(const std::string& file, std::string text) {
  const auto table = CsvTable::parse(file, std::move(text));
  if (!table) return fail(table.error());
  for (std::size_t i = 0; i < table->rows(); ++i) {
    PolluxRow row(*table, i);
    const int nodes = row.whole("num_nodes", 1, kMaxGpus);
    const int gpus = row.whole("num_replicas", 1, kMaxGpus);
    const int local = row.whole("local_bsz", 1, kMaxGpus);
    const StepTime time{row.number("step_time", 0, kLargest), row.number("sync_time", 0, kLargest)};
    if (row.error()) return fail(*row.error());
    Curve& curve = shapes_[nodes][gpus];
    const Point point{static_cast<double>(local), time};
    curve.insert(std::upper_bound(curve.begin(), curve.end(), point,
                                  [](const Point& a, const Point& b) { return a.localBatch < b.localBatch; }),
                 point);
  }
  return {};
}

Result<void> PolluxApplication::readValidation(int batch, std::size_t epochs, const std::string& file,
                                               std::string text) {
  const auto table = CsvTable::parse(file, std::move(text));
  if (!table) return fail(table.error());
  if (table->rows() < epochs)
    return fail(ErrorCode::kInvalid,
                fmt::format("{}: {} epochs, {} are needed", file, table->rows(), epochs));
  boundaries_.resize(epochs, kLargest);
  double last = 0;
  for (std::size_t i = 0; i < epochs; ++i) {
    PolluxRow row(*table, i);
    const double progress = row.number("progress", 0, kLargest);
    const Statistics statistics{row.number("grad_sqr", 0, kLargest), row.number("grad_var", 0, kLargest)};
    if (progress <= last) row.refuse("progress", "not more than an epoch before");
    if (statistics.square + statistics.variance <= 0) row.refuse("grad_sqr", "no gradient at all");
    if (row.error()) return fail(*row.error());
    last = progress;
    boundaries_[i] = std::min(boundaries_[i], progress);
    statistics_[batch].push_back(statistics);
  }
  return {};
}

StepTime PolluxApplication::at(const Curve& curve, double localBatch) {
  const auto above = std::find_if(curve.begin(), curve.end(),
                                  [&](const Point& point) { return point.localBatch >= localBatch; });
  if (above == curve.end()) return curve.back().time;
  if (above == curve.begin()) return above->time;
  const Point& below = *std::prev(above);
  return between(below.time, above->time,
                 (localBatch - below.localBatch) / (above->localBatch - below.localBatch));
}

StepTime PolluxApplication::atShape(int nodes, int gpus, double localBatch) const {
  const auto [fewer, more, part] = around(shapes_, std::min(nodes, kMaxMeasuredNodes));
  const auto atNodes = [&](const std::map<int, Curve>& byGpus) {
    const auto [below, above, within] = around(byGpus, gpus);
    return between(at(*below, localBatch), at(*above, localBatch), within);
  };
  return between(atNodes(*fewer), atNodes(*more), part);
}

StepTime PolluxApplication::stepTime(const PolluxPlacement& placement, double localBatch) const {
  const auto known = placements_.find(rotated(placement));
  if (known != placements_.end()) return at(known->second, localBatch);
  int gpus = 0;
  for (const int each : placement) gpus += each;
  return atShape(static_cast<int>(placement.size()), gpus, localBatch);
}

PolluxApplication::Statistics PolluxApplication::statistics(double batch, std::size_t epoch) const {
  auto above = std::find_if(statistics_.begin(), statistics_.end(),
                            [&](const auto& each) { return each.first >= batch; });
  if (above == statistics_.end()) --above;
  if (above == statistics_.begin() || above->first <= batch) return above->second[epoch];
  const auto below = std::prev(above);
  const double part = (batch - below->first) / (above->first - below->first);
  const Statistics& a = below->second[epoch];
  const Statistics& b = above->second[epoch];
  return {a.square + (b.square - a.square) * part, a.variance + (b.variance - a.variance) * part};
}

double PolluxApplication::goodput(const PolluxPlacement& placement, int batch, std::size_t epoch) const {
  int gpus = 0;
  for (const int each : placement) gpus += each;
  const auto upwards = [](int value, int by) { return (value + by - 1) / by; };
  int local = upwards(batch, gpus);
  int accumulated = upwards(local, maxLocal_) - 1;
  if (gpus == 1 && batch > minBatch_) accumulated = std::max(accumulated, 1);
  local = std::min(upwards(local, accumulated + 1), maxBatch_ / (gpus * (accumulated + 1)));
  local = std::max(local, 1);
  const double whole = static_cast<double>(gpus) * local * (accumulated + 1);
  const StepTime time = stepTime(placement, local);
  const double seconds = time.step + accumulated * (time.step - time.sync);
  const Statistics gradient = statistics(whole, epoch);
  const double scale = whole / minBatch_;
  const double gain = (gradient.variance + gradient.square) / (gradient.variance / scale + gradient.square);
  return gain / seconds;
}

double PolluxApplication::runSeconds(const PolluxPlacement& placement, int batch, bool adapts) const {
  double seconds = 0;
  double done = 0;
  for (std::size_t epoch = 0; epoch < epochs(); ++epoch) {
    double speed = goodput(placement, batch, epoch);
    for (int other = minBatch_; adapts && other <= maxBatch_; other *= 2)
      speed = std::max(speed, goodput(placement, other, epoch));
    seconds += std::max(progressAfter(epoch + 1) - done, 0.0) / speed;
    done = progressAfter(epoch + 1);
  }
  return seconds;
}

Result<PolluxTrace> readPolluxJobs(const std::string& file, int gpusPerNode,
                                   const std::function<Result<std::string>(const std::string&)>& readFile) {
  auto text = readFile(file);
  if (!text) return fail(text.error());
  const auto table = CsvTable::parse(file, std::move(*text));
  if (!table) return fail(table.error());
  const auto tables = std::filesystem::path(file).parent_path() / ".." / "traces";
  std::map<std::string, std::shared_ptr<const PolluxApplication>> applications;
  struct Read {
    TraceJob facts;
    TraceWork work;
    PolluxJob job;
  };
  std::vector<Read> all;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    PolluxRow row(*table, i);
    Read read;
    read.facts.name = row.text("name");
    read.facts.submitted = ReplayTime(std::llround(row.number("time", 0, 1e10) * 1e6));
    read.facts.gpus = row.whole("num_replicas", 1, kMaxGpus);
    read.job.batch = row.whole("batch_size", 1, kMaxGpus);
    const std::string name = row.text("application");
    if (row.error()) return fail(*row.error());
    auto& application = applications[name];
    if (!application) {
      auto known = PolluxApplication::read(name, (tables / name).string(), readFile);
      if (!known) return fail(table->error(i, *table->column("application"), known.error().message));
      application = std::make_shared<const PolluxApplication>(std::move(*known));
    }
    read.job.application = application;
    PolluxPlacement close(static_cast<std::size_t>(read.facts.gpus / gpusPerNode), gpusPerNode);
    if (read.facts.gpus % gpusPerNode != 0) close.push_back(read.facts.gpus % gpusPerNode);
    const double seconds = application->runSeconds(close, read.job.batch, false);
    if (!(seconds < 1e10)) {
      return fail(
          table->error(i, *table->column("application"), fmt::format("takes {} s by its tables", seconds)));
    }
    read.work = {
        .duration = ReplayTime(std::llround(seconds * 1e6)), .startup = kResizePause, .resume = kResizePause};
    all.push_back(std::move(read));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Read& a, const Read& b) { return a.facts.submitted < b.facts.submitted; });
  PolluxTrace result;
  result.trace.queues = {"all"};
  for (Read& read : all) {
    result.trace.jobs.push_back(std::move(read.facts));
    result.trace.work.push_back(read.work);
    result.jobs.push_back(std::move(read.job));
  }
  return result;
}

}  // namespace trainyard::replay
