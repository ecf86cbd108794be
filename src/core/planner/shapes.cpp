#include "core/planner/shapes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "core/planner/spreads.h"

namespace trainyard::core {
namespace {

// Which numbers are tried: all up to `every`, beyond it in steps of a fraction of the number.
struct Fineness {
  int every = 64;  // of workers and of nodes
  int part = 16;
  int everyServers = 16;
  int partServers = 4;

  [[nodiscard]] bool coarsest() const { return every == 1 && part == 1 && everyServers == 1; }
  [[nodiscard]] Fineness coarser() const {
    const auto fourth = [](int number) { return std::max(1, number / 4); };
    return {fourth(every), fourth(part), fourth(everyServers), fourth(partServers)};
  }
};
// The work is bounded, in pools and parts of spreads (some 30 ns each). A cluster of unlike nodes and a
// profile with equally good shapes would otherwise hold up the operator's cycle for seconds. Beyond the
// bound, everything is tried again in coarser steps.
constexpr std::int64_t kMaxWork = 3'000'000;
constexpr std::int64_t kWorkOfAShape = 16;
// Later shapes stay in the order of their speed.
constexpr std::ptrdiff_t kMaxRanked = 64;
constexpr double kMinRelativeNoise = 0.01;
constexpr double kMaxNoise = 0.03;

// Returns `least` to `most`: all up to `every`, then in steps of n / `part`; `most` always.
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
      : pools_(pools),
        model_(model),
        coefficients_(coefficients),
        limits_(limits),
        orderForServers_(orderedForServers(pools)) {}

  std::vector<PlannedShape> run() {
    const auto sets = poolSets();
    for (;; fineness_ = fineness_.coarser()) {
      work_ = 0;
      for (const auto& set : sets) tryPools(set);
      if (work_ <= kMaxWork || fineness_.coarsest()) break;
    }
    std::vector<PlannedShape> all;
    for (auto& [size, shape] : best_) all.push_back(std::move(shape));
    return all;
  }

 private:
  // Returns the sets of pools that the workers of one shape may use together.
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

  struct Extent {
    int nodes = 0;
    int available = 0;  // workers that fit
  };

  [[nodiscard]] Extent extentOf(const std::vector<std::size_t>& set) const {
    Extent extent;
    for (const std::size_t pool : set) {
      extent.nodes += pools_[pool].nodes;
      extent.available += pools_[pool].nodes * pools_[pool].workersPerNode();
    }
    return extent;
  }

  [[nodiscard]] std::vector<int> workersIn(const Extent& extent) const {
    return numbers(limits_.minWorkers, std::min(limits_.maxWorkers, extent.available), fineness_.every,
                   fineness_.part);
  }
  [[nodiscard]] std::vector<int> nodesFor(int workers, const Extent& extent) const {
    return numbers(1, std::min(workers, extent.nodes), fineness_.every, fineness_.part);
  }
  [[nodiscard]] std::vector<int> serverCounts() const {
    return numbers(limits_.minServers, limits_.maxServers, fineness_.everyServers, fineness_.partServers);
  }

  void tryPools(const std::vector<std::size_t>& set) {
    const std::vector<std::size_t> order = orderedForWorkers(pools_, set);
    const Extent extent = extentOf(order);
    for (const int workers : workersIn(extent)) {
      for (const int each : nodesFor(workers, extent)) {
        if (work_ > kMaxWork) return;
        const auto spread = spreadWorkers(pools_, order, workers, each);
        work_ += kWorkOfAShape;
        if (spread) tryWorkers(*spread);
      }
    }
  }

  void tryWorkers(const Spread& workers) {
    if (!model_.parameterServers) return tryShape(workers);
    if (hopeless(workers)) return;
    for (const int servers : serverCounts()) {
      if (const auto beside = addColocatedServers(pools_, workers, servers)) tryShape(*beside);
      if (const auto apart = addSeparateServers(pools_, orderForServers_, workers, servers)) tryShape(*apart);
      work_ += 2 * kWorkOfAShape + static_cast<std::int64_t>(orderForServers_.size());
    }
  }

  // Returns true if it would be slower than the fastest so far even without any exchange time.
  [[nodiscard]] bool hopeless(const Spread& workers) const {
    TrainingModel alone = model_;
    alone.parameterServers = false;
    Coefficients free = coefficients_;
    free.values[Coefficients::kWire] = free.values[Coefficients::kLocal] = free.values[Coefficients::kHop] =
        0;
    return predictStep(workers, pools_, alone, free).samplesPerSecond() < fastest_ * (1 - kMaxNoise);
  }

  [[nodiscard]] bool exceeds(const Spread& spread, const ShapeLimits::Budget& budget) const {
    std::int64_t sum = 0;
    for (const Spread::Part& part : spread.parts) {
      if (!budget.gpuType.empty() && pools_[part.pool].gpuType != budget.gpuType) continue;
      sum = base::saturatingAdd(
          sum, base::saturatingAdd(
                   base::saturatingMultiply(budget.perWorker, std::int64_t{part.nodes} * part.workers),
                   base::saturatingMultiply(budget.perServer, std::int64_t{part.nodes} * part.servers)));
    }
    return sum > budget.most;
  }

  void tryShape(const Spread& spread) {
    if (std::any_of(limits_.budgets.begin(), limits_.budgets.end(),
                    [&](const ShapeLimits::Budget& each) { return exceeds(spread, each); }))
      return;
    work_ += kWorkOfAShape + static_cast<std::int64_t>(spread.parts.size());
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
    // A placement on more nodes must be faster by more than the noise.
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
  std::vector<std::size_t> orderForServers_;
  Fineness fineness_;
  std::int64_t work_ = 0;
  double fastest_ = 0;
  std::map<std::tuple<int, int, std::string>, PlannedShape> best_;
};

}  // namespace

double rankingNoise(const Coefficients& coefficients) {
  return std::clamp(coefficients.relativeNoise, kMinRelativeNoise, kMaxNoise);
}

std::vector<PlannedShape> rankShapes(const std::vector<NodePool>& pools, const TrainingModel& model,
                                     const Coefficients& coefficients, const ShapeLimits& limits) {
  std::vector<PlannedShape> all = Generator(pools, model, coefficients, limits).run();
  std::stable_sort(all.begin(), all.end(), [](const PlannedShape& a, const PlannedShape& b) {
    return a.step.samplesPerSecond() > b.step.samplesPerSecond();
  });
  // The next is the fastest remaining shape, or the smallest one that is as fast within the noise.
  const double noise = rankingNoise(coefficients);
  for (auto next = all.begin(); next != all.end() && next - all.begin() < kMaxRanked; ++next) {
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
