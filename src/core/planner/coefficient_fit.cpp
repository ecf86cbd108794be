#include "core/planner/coefficient_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace trainyard::core {
namespace {

using Values = std::array<double, Coefficients::kCount>;

constexpr std::array<double, 3> kOverlaps{0.3, 0.0, 0.6};
constexpr double kErrorTolerance = 1e-3;  // of squared relative errors
constexpr int kMaxTurns = 8;
// The weak equations: a prior figure has an error as large as itself, a measured step one of a few per cent.
constexpr double kPriorWeight = 0.05;
constexpr double kHabitWeight = 0.1;
constexpr double kBalanceWeight = 0.2;
constexpr double kLocalPart = 0.1;
constexpr double kMinNoise = 0.01;

struct Equations {
  Matrix rows;
  std::vector<double> right;

  void add(const Values& row, double weight, double value) {
    std::vector<double> scaled(row.begin(), row.end());
    for (double& each : scaled) each *= weight;
    rows.push_back(std::move(scaled));
    right.push_back(value * weight);
  }
};

class Fit {
 public:
  Fit(const std::vector<MeasuredSpread>& measured, const std::vector<NodePool>& pools,
      const TrainingModel& model, const PriorCosts& prior, double referenceNic)
      : measured_(measured), pools_(pools), model_(model), prior_(prior), referenceNic_(referenceNic) {
    for (const MeasuredSpread& each : measured_) {
      typicalSeconds_ += std::log(each.seconds) / static_cast<double>(measured_.size());
      typicalBatch_ += each.perWorker / static_cast<double>(measured_.size());
    }
    typicalSeconds_ = measured_.empty() ? 1.0 : std::exp(typicalSeconds_);
  }

  Coefficients run() {
    if (measured_.empty()) return fromPrior();
    std::optional<Coefficients> best;
    double least = 0;
    for (const double overlap : kOverlaps) {
      Coefficients fitted = fitWith(overlap);
      const double error = squaredError(fitted);
      if (best && error >= least - kErrorTolerance) continue;
      least = error;
      best = std::move(fitted);
    }
    best->relativeNoise = noiseOf(*best, least);
    for (auto& row : best->covariance) {
      for (double& each : row) each *= best->relativeNoise * best->relativeNoise;
    }
    return *best;
  }

 private:
  Coefficients fromPrior() const {
    Coefficients coefficients;
    coefficients.referenceNic = referenceNic_;
    coefficients.values[Coefficients::kPerSample] = prior_.perSample;
    coefficients.values[Coefficients::kWire] = prior_.wire;
    coefficients.values[Coefficients::kLocal] = prior_.wire * kLocalPart;
    coefficients.overlap = kOverlaps.front();
    coefficients.relativeNoise = kUnmeasured;
    return coefficients;
  }

  [[nodiscard]] TrainingModel modelOf(const MeasuredSpread& each) const {
    TrainingModel model = model_;
    model.batch = 0;
    model.perWorker = each.perWorker;
    model.maxPerWorker = 0;
    return model;
  }

  Coefficients fitWith(double overlap) const {
    Coefficients fitted;
    fitted.overlap = overlap;
    fitted.referenceNic = referenceNic_;
    std::vector<bool> shows(measured_.size(), true);
    for (int turn = 0; turn < kMaxTurns; ++turn) {
      const Equations equations = equationsFor(fitted, shows);
      NnlsSolution solution = solveNnls(equations.rows, equations.right);
      std::copy(solution.x.begin(), solution.x.end(), fitted.values.begin());
      fitted.covariance = std::move(solution.inverse);
      const std::vector<bool> before = std::exchange(shows, showing(fitted));
      if (shows == before) break;
    }
    return fitted;
  }

  // Returns for each measured step whether its exchange exceeds what the computation hides.
  [[nodiscard]] std::vector<bool> showing(const Coefficients& fitted) const {
    std::vector<bool> shows;
    for (const MeasuredSpread& each : measured_) {
      const StepPrediction step = predictStep(each.spread, pools_, modelOf(each), fitted);
      shows.push_back(step.exchange > 0);
    }
    return shows;
  }

  [[nodiscard]] Equations equationsFor(const Coefficients& fitted, const std::vector<bool>& shows) const {
    Equations equations;
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      const StepTerms terms = stepTerms(measured_[i].spread, pools_, modelOf(measured_[i]), fitted);
      Values row = terms.amounts;
      const bool hides = terms.crossesNodes && !shows[i];
      if (hides) row[Coefficients::kWire] = row[Coefficients::kHop] = 0;
      if (terms.crossesNodes && shows[i]) {
        row[Coefficients::kFixed] *= 1 - fitted.overlap;
        row[Coefficients::kPerSample] *= 1 - fitted.overlap;
      }
      equations.add(row, 1.0 / measured_[i].seconds, measured_[i].seconds);
    }
    addHabits(equations);
    return equations;
  }

  void addHabits(Equations& equations) const {
    Values row{};
    if (prior_.perSample > 0) {
      row[Coefficients::kPerSample] = 1 / prior_.perSample;
      equations.add(row, kPriorWeight, 1);
    }
    row = {};
    if (prior_.wire > 0) {
      row[Coefficients::kWire] = 1 / prior_.wire;
      equations.add(row, kPriorWeight, 1);
    } else {
      row[Coefficients::kWire] = 1;
      row[Coefficients::kFixed] = -1;
      row[Coefficients::kPerSample] = -typicalBatch_;
      equations.add(row, kBalanceWeight / typicalSeconds_, 0);
    }
    row = {};
    row[Coefficients::kLocal] = 1;
    row[Coefficients::kWire] = -kLocalPart;
    equations.add(row, 3 * kHabitWeight / typicalSeconds_, 0);
    row = {};
    row[Coefficients::kHop] = 1;
    equations.add(row, 3 * kHabitWeight / typicalSeconds_ * 10, 0);
  }

  [[nodiscard]] double squaredError(const Coefficients& fitted) const {
    double sum = 0;
    for (const MeasuredSpread& each : measured_) {
      const double error = predictStep(each.spread, pools_, modelOf(each), fitted).seconds / each.seconds - 1;
      sum += error * error;
    }
    return sum;
  }

  [[nodiscard]] double noiseOf(const Coefficients& fitted, double squared) const {
    const auto unknowns =
        std::count_if(fitted.values.begin(), fitted.values.end(), [](double each) { return each > 0; });
    const auto left = std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(measured_.size()) - unknowns, 1);
    return std::max(kMinNoise, std::sqrt(squared / static_cast<double>(left)));
  }

  static constexpr double kUnmeasured = 0.3;

  const std::vector<MeasuredSpread>& measured_;
  const std::vector<NodePool>& pools_;
  const TrainingModel& model_;
  const PriorCosts& prior_;
  double referenceNic_;
  double typicalSeconds_ = 0;
  double typicalBatch_ = 0;
};

}  // namespace

Coefficients fitCoefficients(const std::vector<MeasuredSpread>& measured, const std::vector<NodePool>& pools,
                             const TrainingModel& model, const PriorCosts& prior, double referenceNic) {
  return Fit(measured, pools, model, prior, referenceNic).run();
}

}  // namespace trainyard::core
