#include "planner/simulated_cluster.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "core/planner.h"
#include "core/planner/spreads.h"
#include "model/model_profile.h"
#include "planner/step_truth.h"

namespace trainyard::test {
namespace {

using core::NodePool;
using core::Spread;

constexpr double kGigabit = 1.25e8;
constexpr double kNoise = 0.03;
constexpr int kMaxServers = 40;
constexpr std::size_t kWithout = 0;
constexpr std::size_t kSlow = 1;
constexpr std::size_t kFast = 2;

std::vector<NodePool> machines() {
  NodePool without{.gpuType = "", .nicBytesPerSecond = 10 * kGigabit, .nodes = 10, .colocatedServers = {4}};
  NodePool slow{
      .gpuType = "Tesla-K80", .nicBytesPerSecond = 10 * kGigabit, .nodes = 12, .colocatedServers = {4, 4, 4}};
  NodePool fast{.gpuType = "Tesla-P100",
                .nicBytesPerSecond = 25 * kGigabit,
                .nodes = 8,
                .colocatedServers = {4, 4, 4, 4, 4}};
  return {without, slow, fast};
}

std::vector<TrainedModel> models() {
  return {
      {"resnet50", 25.6e6, 2.4e6, 54, 24.6e9, 64, 6},     {"resnet101", 44.5e6, 2.4e6, 105, 46.8e9, 32, 5},
      {"inception-v3", 27.2e6, 2.0e6, 94, 34.3e9, 64, 5}, {"vgg16", 138e6, 103e6, 16, 93e9, 32, 4},
      {"bert-base", 110e6, 23.4e6, 100, 84e9, 16, 3},     {"lstm-lm", 66e6, 15e6, 10, 12e9, 128, 20}};
}

// Normally distributed noise, as the sum of twelve uniform values.
double noisy(base::Rng& rng, double seconds) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(rng.below(1'000'000)) / 1e6;
  return seconds * std::exp(kNoise * sum);
}

class Trial {
 public:
  Trial(const TrainedModel& model, base::Rng rng) : model_(model), rng_(rng), pools_(machines()) {}

  ClusterTrial run() {
    ClusterTrial trial{.model = model_.name};
    const core::PlannedShape chosen = plan();
    trial.shape = textOf(chosen.spread);
    trial.predicted = chosen.step.samplesPerSecond();
    trial.speed = speedOf(chosen.spread);
    search();
    trial.ofBest = trial.speed / best_;
    trial.best = textOf(bestSpread_);
    for (const Spread& manual : manualChoices()) trial.overManual.push_back(trial.speed / speedOf(manual));
    return trial;
  }

 private:
  [[nodiscard]] double speedOf(const Spread& spread) const {
    return model_.perWorker * spread.workers() / trueStep(model_, spread, pools_);
  }

  // Workers and servers are on separate machines.
  model::MeasuredStep measure(std::size_t type, std::vector<int> workers, int servers, double batch) {
    Spread spread;
    for (const int each : workers) spread.parts.push_back({type, 1, each, 0});
    if (servers > 0) spread.parts.push_back({kWithout, servers, 0, 1});
    model::MeasuredStep step;
    step.workers = std::move(workers);
    step.batchPerWorker = std::llround(batch);
    step.stepNanos = std::llround(noisy(rng_, trueStep(model_, spread, pools_, batch)) * 1e9);
    step.servers = servers;
    step.gpuType = pools_[type].gpuType;
    return step;
  }

  core::PlannedShape plan() {
    model::ModelProfile profile;
    profile.parameters = std::llround(model_.parameters);
    profile.largestTensorBytes = std::llround(model_.largestTensor) * profile.bytesPerParameter;
    profile.flopsPerSample = std::llround(model_.flopsPerSample);
    profile.batchPerWorker = std::llround(model_.perWorker);
    const double small = std::max(1.0, model_.perWorker / 4);
    const double large = model_.perWorker;
    const auto fastSmall = measure(kFast, {1}, 0, small);
    const auto fastLarge = measure(kFast, {1}, 0, large);
    const auto slowLarge = measure(kSlow, {1}, 0, large);
    profile.measurements = {fastSmall, fastLarge, slowLarge, measure(kFast, {1, 1}, 1, small),
                            measure(kFast, {4, 4}, 2, large)};
    const auto speed = [&](const model::MeasuredStep& step) {
      return std::llround(1e12 * static_cast<double>(step.batchPerWorker) /
                          static_cast<double>(step.stepNanos));
    };
    profile.speeds = {{pools_[kFast].gpuType, speed(fastLarge)}, {pools_[kSlow].gpuType, speed(slowLarge)}};
    std::vector<NodePool> pools = pools_;
    const core::FittedProfile fitted = core::fitProfile(profile, true, 1, 0, pools);
    return core::rankShapes(pools, fitted.model, fitted.coefficients,
                            {.maxWorkers = 56, .maxServers = kMaxServers, .mixTypes = true})
        .front();
  }

  void consider(const Spread& spread) {
    const double speed = speedOf(spread);
    if (speed <= best_) return;
    best_ = speed;
    bestSpread_ = spread;
  }

  void considerWorkers(const Spread& workers) {
    for (int servers = 1; servers <= kMaxServers; ++servers) {
      if (const auto beside = core::addColocatedServers(pools_, workers, servers)) consider(*beside);
      if (const auto apart =
              core::addSeparateServers(pools_, core::orderedForServers(pools_), workers, servers))
        consider(*apart);
    }
  }

  void search() {
    const std::vector<std::vector<std::size_t>> sets{{kFast}, {kSlow}, {kFast, kSlow}, {kSlow, kFast}};
    for (const auto& order : sets) {
      for (int nodes = 1; nodes <= 20; ++nodes) {
        for (int workers = nodes; workers <= 56; ++workers) {
          if (const auto even = core::spreadWorkers(pools_, order, workers, nodes)) considerWorkers(*even);
        }
      }
      for (int workers = 1; workers <= 56; ++workers) {
        if (const auto full = packed(order, workers)) considerWorkers(*full);
      }
    }
  }

  // Fills one machine after the other.
  [[nodiscard]] std::optional<Spread> packed(const std::vector<std::size_t>& order, int workers) const {
    Spread spread;
    for (const std::size_t pool : order) {
      const int each = pools_[pool].workersPerNode();
      const int full = std::min(pools_[pool].nodes, workers / each);
      if (full > 0) spread.parts.push_back({pool, full, each, 0});
      workers -= full * each;
      if (workers > 0 && workers < each && full < pools_[pool].nodes) {
        spread.parts.push_back({pool, 1, workers, 0});
        workers = 0;
      }
    }
    return workers == 0 ? std::optional(spread) : std::nullopt;
  }

  [[nodiscard]] std::vector<Spread> manualChoices() const {
    const int slow = pools_[kSlow].nodes;
    const int fast = pools_[kFast].nodes;
    return {{.parts = {{kSlow, slow, 1, 0}, {kFast, fast, 1, 0}, {kWithout, 1, 0, 1}}},
            {.parts = {{kSlow, slow, 1, 1}, {kFast, fast, 1, 1}}},
            {.parts = {{kSlow, slow, 2, 1}, {kFast, fast, 4, 1}}}};
  }

  [[nodiscard]] std::string textOf(const Spread& spread) const {
    std::string types;
    for (const std::size_t pool : {kFast, kSlow}) {
      int workers = 0;
      for (const Spread::Part& part : spread.parts)
        workers += part.pool == pool ? part.nodes * part.workers : 0;
      if (workers > 0)
        types += fmt::format("{}{} {}", types.empty() ? "" : " + ", workers, pools_[pool].gpuType);
    }
    return fmt::format("{}, {} ps, {} machines", types, spread.servers(), spread.nodes());
  }

  const TrainedModel& model_;
  base::Rng rng_;
  std::vector<NodePool> pools_;
  double best_ = 0;
  Spread bestSpread_;
};

}  // namespace

std::vector<ClusterTrial> trySimulatedCluster(std::uint64_t seed, const std::vector<std::string>& only) {
  base::Rng rng(seed);
  std::vector<ClusterTrial> trials;
  for (const TrainedModel& model : models()) {
    const base::Rng own = rng.split();
    const bool wanted = only.empty() || std::find(only.begin(), only.end(), model.name) != only.end();
    if (wanted) trials.push_back(Trial(model, own).run());
  }
  return trials;
}

ClusterSummary summaryOf(const std::vector<ClusterTrial>& trials) {
  ClusterSummary summary{.worstOfBest = 1};
  double choices = 0;
  for (const ClusterTrial& each : trials) {
    summary.meanOfBest += each.ofBest / static_cast<double>(trials.size());
    summary.worstOfBest = std::min(summary.worstOfBest, each.ofBest);
    for (const double times : each.overManual) {
      summary.meanSpeedUp += times;
      ++choices;
    }
  }
  summary.meanSpeedUp /= choices;
  return summary;
}

std::string clusterText(const std::vector<ClusterTrial>& trials) {
  std::string text = fmt::format("{:<14}{:<42}{:>11}{:>11}{:>9}{:>8}{:>8}{:>8}   {}\n", "model", "chosen",
                                 "samples/s", "predicted", "of best", "1 ps", "ps=w", "w=GPUs", "optimum");
  for (const ClusterTrial& each : trials) {
    text += fmt::format("{:<14}{:<42}{:>11.1f}{:>11.1f}{:>7.1f} %", each.model, each.shape, each.speed,
                        each.predicted, 100 * each.ofBest);
    for (const double times : each.overManual) text += fmt::format("{:>7.2f}x", times);
    text += fmt::format("   {}\n", each.best);
  }
  const ClusterSummary summary = summaryOf(trials);
  return text +
         fmt::format("mean {:.2f}x over choices by hand, {:.2f} % of the optimum, worst model {:.2f} %\n",
                     summary.meanSpeedUp, 100 * summary.meanOfBest, 100 * summary.worstOfBest);
}

}  // namespace trainyard::test
