#include "planner/measured_tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "base/rng.h"
#include "core/planner.h"
#include "replay/traces/csv.h"

namespace trainyard::test {
namespace {

using core::MeasuredSpread;
using core::NodePool;
using core::Spread;

constexpr int kGpusPerNode = 4;
constexpr std::size_t kFitted = 5;

using Placement = std::vector<int>;   // workers by node, ascending
using Curve = std::map<int, double>;  // step seconds by batch per worker

struct Step {
  Placement placement;
  int batch = 0;
  double seconds = 0;
};

struct Table {
  std::map<Placement, Curve> curves;
  std::vector<Step> steps;
  std::vector<int> batches;
};

base::Result<Table> readTable(const std::string& file, std::string text) {
  auto csv = replay::CsvTable::parse(file, std::move(text));
  if (!csv) return base::fail(csv.error());
  const auto placement = csv->column("placement");
  const auto batch = csv->column("local_bsz");
  const auto seconds = csv->column("step_time");
  if (!placement || !batch || !seconds)
    return base::fail(base::ErrorCode::kInvalid, file + ": columns are missing");
  Table table;
  for (std::size_t row = 0; row < csv->rows(); ++row) {
    Step step;
    for (const char digit : csv->text(row, *placement)) step.placement.push_back(digit - '0');
    std::sort(step.placement.begin(), step.placement.end());
    const auto size = csv->integer(row, *batch, 1, 1'000'000);
    const auto time = csv->number(row, *seconds, 0, 1e6);
    if (!size) return base::fail(size.error());
    if (!time) return base::fail(time.error());
    step.batch = static_cast<int>(*size);
    step.seconds = *time;
    // Placements that differ only in the order of nodes are one: the faster measurement counts.
    const auto [known, isNew] = table.curves[step.placement].try_emplace(step.batch, step.seconds);
    if (!isNew) known->second = std::min(known->second, step.seconds);
    table.batches.push_back(step.batch);
    table.steps.push_back(std::move(step));
  }
  std::sort(table.batches.begin(), table.batches.end());
  table.batches.erase(std::unique(table.batches.begin(), table.batches.end()), table.batches.end());
  return table;
}

std::optional<double> secondsAt(const Curve& curve, double batch) {
  const auto above = std::lower_bound(curve.begin(), curve.end(), batch,
                                      [](const auto& each, double wanted) { return each.first < wanted; });
  if (above == curve.end()) return std::nullopt;
  if (static_cast<double>(above->first) == batch) return above->second;
  if (above == curve.begin()) return std::nullopt;
  const auto below = std::prev(above);
  const double part = (batch - below->first) / (above->first - below->first);
  return below->second + part * (above->second - below->second);
}

int workersOf(const Placement& placement) {
  int sum = 0;
  for (const int each : placement) sum += each;
  return sum;
}

Spread spreadOf(const Placement& placement) {
  std::map<int, int, std::greater<>> nodes;
  for (const int each : placement) ++nodes[each];
  Spread spread;
  for (const auto& [size, count] : nodes) spread.parts.push_back({0, count, size, 0});
  return spread;
}

Placement placementOf(const Spread& spread) {
  Placement placement;
  for (const Spread::Part& part : spread.parts)
    placement.insert(placement.end(), static_cast<std::size_t>(part.nodes), part.workers);
  std::sort(placement.begin(), placement.end());
  return placement;
}

std::vector<NodePool> nodesOf(int nodes) {
  NodePool pool;
  pool.nodes = nodes;
  pool.colocatedServers.assign(kGpusPerNode + 1, 0);
  return {pool};
}

class Trials {
 public:
  Trials(const Table& table, bool anyFive) : table_(table), anyFive_(anyFive) {}

  void run(base::Rng rng) {
    const std::vector<Step> fitted = anyFive_ ? drawAny(rng) : drawOneOfEach(rng);
    std::vector<MeasuredSpread> measured;
    for (const Step& step : fitted)
      measured.push_back({spreadOf(step.placement), static_cast<double>(step.batch), step.seconds});
    const std::vector<NodePool> pools = nodesOf(kGpusPerNode);
    coefficients_ = core::fitCoefficients(measured, pools, {}, {}, pools.front().nicBytesPerSecond);
    predictOthers(fitted);
    speeds_.clear();
    for (int nodes = 1; nodes <= 4; ++nodes) {
      for (const int batch : table_.batches) decide(nodes, {.perWorker = static_cast<double>(batch)});
      for (int batch = table_.batches.front(); batch <= table_.batches.back() * 16; batch *= 2)
        decide(nodes, {.batch = static_cast<double>(batch)});
    }
    double sum = 0;
    for (const double each : speeds_) sum += each;
    trialMeans.push_back(sum / static_cast<double>(speeds_.size()));
    all.insert(all.end(), speeds_.begin(), speeds_.end());
  }

  std::vector<double> trialMeans;
  std::vector<double> all;
  std::vector<double> errors;

 private:
  template <typename Keep>
  const Step& drawWhere(base::Rng& rng, Keep keep) const {
    std::vector<const Step*> fitting;
    for (const Step& step : table_.steps) {
      if (keep(step)) fitting.push_back(&step);
    }
    return *fitting[rng.below(fitting.size())];
  }

  std::vector<Step> drawOneOfEach(base::Rng& rng) const {
    const std::size_t sizes = table_.batches.size();
    const int small = table_.batches[(sizes - 1) / 3];
    const int large = table_.batches[sizes / 2];
    const auto alone = [](const Step& step) { return workersOf(step.placement) == 1; };
    return {
        drawWhere(rng, [&](const Step& step) { return alone(step) && step.batch <= small; }),
        drawWhere(rng, [&](const Step& step) { return alone(step) && step.batch >= large; }),
        drawWhere(rng,
                  [&](const Step& step) {
                    return step.placement.size() == 1 && !alone(step) && step.batch <= small;
                  }),
        drawWhere(rng, [&](const Step& step) { return step.placement.size() == 2 && step.batch <= small; }),
        drawWhere(rng, [&](const Step& step) { return step.placement.size() > 2 && step.batch <= large; })};
  }

  std::vector<Step> drawAny(base::Rng& rng) const {
    std::vector<Step> drawn;
    while (drawn.size() < kFitted) drawn.push_back(table_.steps[rng.below(table_.steps.size())]);
    return drawn;
  }

  void predictOthers(const std::vector<Step>& fitted) {
    const std::vector<NodePool> pools = nodesOf(kGpusPerNode);
    for (const Step& step : table_.steps) {
      const bool known = std::any_of(fitted.begin(), fitted.end(), [&](const Step& each) {
        return each.placement == step.placement && each.batch == step.batch;
      });
      if (known) continue;
      const core::TrainingModel model{.perWorker = static_cast<double>(step.batch)};
      const double predicted =
          core::predictStep(spreadOf(step.placement), pools, model, coefficients_).seconds;
      errors.push_back(std::abs(predicted / step.seconds - 1));
    }
  }

  [[nodiscard]] std::optional<double> speedOf(const Placement& placement,
                                              const core::TrainingModel& model) const {
    const auto curve = table_.curves.find(placement);
    if (curve == table_.curves.end()) return std::nullopt;
    const int workers = workersOf(placement);
    const double perWorker = model.batch > 0 ? model.batch / workers : model.perWorker;
    const auto seconds = secondsAt(curve->second, perWorker);
    return seconds ? std::optional(perWorker * workers / *seconds) : std::nullopt;
  }

  void decide(int nodes, const core::TrainingModel& model) {
    double best = 0;
    int fewest = nodes * kGpusPerNode;
    int most = 0;
    for (const auto& [placement, curve] : table_.curves) {
      const int workers = workersOf(placement);
      if (static_cast<int>(placement.size()) > nodes) continue;
      const auto speed = speedOf(placement, model);
      if (!speed) continue;
      best = std::max(best, *speed);
      fewest = std::min(fewest, workers);
      most = std::max(most, workers);
    }
    if (fewest >= most) return;  // nothing to decide
    // The bounds by a batch: fewer workers cannot hold it, more would have less than any measured batch.
    const auto shapes =
        core::rankShapes(nodesOf(nodes), model, coefficients_, {.minWorkers = fewest, .maxWorkers = most});
    for (const core::PlannedShape& shape : shapes) {
      const auto speed = speedOf(placementOf(shape.spread), model);
      if (!speed) continue;  // the table has no entry: treated as impossible
      speeds_.push_back(*speed / best);
      return;
    }
  }

  const Table& table_;
  bool anyFive_;
  core::Coefficients coefficients_;
  std::vector<double> speeds_;
};

double meanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double each : values) sum += each;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

base::Result<TableTrials> tryTable(const std::string& model, const std::string& file, std::string text,
                                   int draws, std::uint64_t seed, bool anyFive) {
  const auto table = readTable(file, std::move(text));
  if (!table) return base::fail(table.error());
  Trials trials(*table, anyFive);
  base::Rng rng(seed);
  for (int i = 0; i < draws; ++i) trials.run(rng.split());
  TableTrials result{.model = model};
  result.decisions = trials.all.size();
  result.meanSpeed = meanOf(trials.all);
  result.worstTrialSpeed = *std::min_element(trials.trialMeans.begin(), trials.trialMeans.end());
  result.worstSpeed = *std::min_element(trials.all.begin(), trials.all.end());
  result.meanError = meanOf(trials.errors);
  std::sort(trials.errors.begin(), trials.errors.end());
  result.medianError = trials.errors[trials.errors.size() / 2];
  return result;
}

}  // namespace trainyard::test
