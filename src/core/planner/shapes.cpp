#include "core/planner/shapes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/planner/spreads.h"

namespace trainyard::core {
namespace {

constexpr int kEvery = 64;  // up to here every number of workers and nodes is tried
constexpr int kEveryServers = 16;
constexpr double kLeastNoise = 0.01;
constexpr double kMostNoise = 0.03;

// From `least` to `most`: all up to `every`, from there in steps of that part of the number; `most` itself.
std::vector<int> numbers(int least, int most, int every, int part) {
  std::vector<int> all;
  for (int n = least; n < most; n += n < every ? 1 : std::max(1, n / part)) all.push_back(n);
  if (least <= most) all.push_back(most);
  return all;
}

auto sizeOf(const PlannedShape& shape) { return std::tuple(shape.workers, shape.servers, shape.nodes); }

class Generator {
 public:
  Generator(const std::vector<NodePool>& pools, const TrainingModel& model, const Coefficients& coefficients,
            const ShapeLimits& limits)
      : pools_(pools), model_(model), coefficients_(coefficients), limits_(limits) {}

  std::vector<PlannedShape> run() {
    for (const auto& set : poolSets()) tryPools(set);
    std::vector<PlannedShape> all;
    for (auto& [size, shape] : best_) all.push_back(std::move(shape));
    return all;
  }

 private:
  // Pools that the workers of one shape may use together.
  [[nodiscard]] std::vector<std::vector<std::size_t>> poolSets() const {
    std::map<std::pair<double, std::string>, std::vector<std::size_t>> byType;
    for (std::size_t pool = 0; pool < pools_.size(); ++pool) {
      if (pools_[pool].workersPerNode() > 0)
        byType[{pools_[pool].slowness, pools_[pool].gpuType}].push_back(pool);
    }
    std::vector<std::vector<std::size_t>> sets;
    std::vector<std::size_t> faster;
    for (const auto& [type, pools] : byType) {
      sets.push_back(pools);
      faster.insert(faster.end(), pools.begin(), pools.end());
      if (limits_.mixTypes && faster.size() > pools.size()) sets.push_back(faster);
    }
    return sets;
  }

  void tryPools(const std::vector<std::size_t>& set) {
    const std::vector<std::size_t> order = orderedForWorkers(pools_, set);
    int room = 0;
    int nodes = 0;
    for (const std::size_t pool : order) {
      nodes += pools_[pool].nodes;
      room += pools_[pool].nodes * pools_[pool].workersPerNode();
    }
    for (const int workers : numbers(limits_.minWorkers, std::min(limits_.maxWorkers, room), kEvery, 16)) {
      for (const int each : numbers(1, std::min(workers, nodes), kEvery, 16)) {
        const auto spread = spreadWorkers(pools_, order, workers, each);
        if (spread) tryWorkers(*spread);
      }
    }
  }

  void tryWorkers(const Spread& workers) {
    if (!model_.parameterServers) return tryShape(workers);
    if (hopeless(workers)) return;
    for (const int servers : numbers(limits_.minServers, limits_.maxServers, kEveryServers, 4)) {
      if (const auto beside = addServersBeside(pools_, workers, servers)) tryShape(*beside);
      if (const auto apart = addServersApart(pools_, workers, servers)) tryShape(*apart);
    }
  }

  // Whether it loses to the fastest so far though its servers took no time.
  [[nodiscard]] bool hopeless(const Spread& workers) const {
    TrainingModel alone = model_;
    alone.parameterServers = false;
    Coefficients free = coefficients_;
    free.values[Coefficients::kWire] = free.values[Coefficients::kLocal] = free.values[Coefficients::kHop] =
        0;
    return predictStep(workers, pools_, alone, free).samplesPerSecond() < fastest_ * (1 - kMostNoise);
  }

  void tryShape(const Spread& spread) {
    PlannedShape shape{.spread = spread, .step = predictStep(spread, pools_, model_, coefficients_)};
    const double speed = shape.step.samplesPerSecond();
    if (!(speed > 0)) return;
    fastest_ = std::max(fastest_, speed);
    shape.workers = spread.workers();
    shape.servers = spread.servers();
    shape.nodes = spread.nodes();
    shape.gpuType = typeOf(spread);
    const auto [known, isNew] = best_.try_emplace({shape.workers, shape.servers, shape.gpuType}, shape);
    if (isNew) return;
    const double before = known->second.step.samplesPerSecond();
    // Of placements, too, the larger must be worth it.
    const double noise = rankingNoise(coefficients_);
    const bool larger = shape.nodes > known->second.nodes;
    if (larger ? speed * (1 - noise) > before : speed >= before * (1 - noise) && better(shape, known->second))
      known->second = std::move(shape);
  }

  [[nodiscard]] bool better(const PlannedShape& a, const PlannedShape& b) const {
    if (a.nodes != b.nodes) return a.nodes < b.nodes;
    return a.step.samplesPerSecond() > b.step.samplesPerSecond();
  }

  [[nodiscard]] std::string typeOf(const Spread& spread) const {
    std::set<std::string> types;
    for (const Spread::Part& part : spread.parts) {
      if (part.workers > 0) types.insert(pools_[part.pool].gpuType);
    }
    return types.size() == 1 ? *types.begin() : std::string();
  }

  const std::vector<NodePool>& pools_;
  const TrainingModel& model_;
  const Coefficients& coefficients_;
  const ShapeLimits& limits_;
  double fastest_ = 0;
  std::map<std::tuple<int, int, std::string>, PlannedShape> best_;
};

}  // namespace

double rankingNoise(const Coefficients& coefficients) {
  return std::clamp(coefficients.relativeNoise, kLeastNoise, kMostNoise);
}

std::vector<PlannedShape> rankShapes(const std::vector<NodePool>& pools, const TrainingModel& model,
                                     const Coefficients& coefficients, const ShapeLimits& limits) {
  std::vector<PlannedShape> all = Generator(pools, model, coefficients, limits).run();
  std::stable_sort(all.begin(), all.end(), [](const PlannedShape& a, const PlannedShape& b) {
    return a.step.samplesPerSecond() > b.step.samplesPerSecond();
  });
  // The fastest that is left, or the smallest that is as good, goes next.
  const double noise = rankingNoise(coefficients);
  for (auto next = all.begin(); next != all.end(); ++next) {
    const double enough = next->step.samplesPerSecond() * (1 - noise);
    const auto end = std::find_if(
        next, all.end(), [&](const PlannedShape& each) { return each.step.samplesPerSecond() < enough; });
    const auto smallest = std::min_element(
        next, end, [](const PlannedShape& a, const PlannedShape& b) { return sizeOf(a) < sizeOf(b); });
    std::rotate(next, smallest, smallest + 1);
  }
  return all;
}

}  // namespace trainyard::core
