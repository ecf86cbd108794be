#include "core/resize/speed_curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace trainyard::core {
namespace {

using model::SpeedPoint;

constexpr double kPriorWeight = 0.1;
constexpr double kPermille = 1'000;
constexpr double kUnit = 1e6;  // milli-samples a second of one member, if no speed is known
constexpr int kParameters = 3;

// Keeps one speed for each size: the first in the list, which is the latest.
std::map<int, double> bySize(const std::vector<SpeedPoint>& points) {
  std::map<int, double> known;
  for (const SpeedPoint& each : points) {
    if (each.replicas > 0 && each.milliSamplesPerSecond > 0)
      known.try_emplace(each.replicas, static_cast<double>(each.milliSamplesPerSecond));
  }
  return known;
}

struct System {
  std::array<std::array<double, kParameters>, kParameters> matrix{};
  std::array<double, kParameters> right{};
};

// Solves for the parameters in `chosen` by elimination with pivots; nullopt if they cannot be separated.
std::optional<std::array<double, kParameters>> solve(const System& all, unsigned chosen) {
  std::array<int, kParameters> used{};
  int count = 0;
  for (int i = 0; i < kParameters; ++i) {
    if ((chosen >> static_cast<unsigned>(i) & 1U) != 0) used[static_cast<std::size_t>(count++)] = i;
  }
  std::array<std::array<double, kParameters + 1>, kParameters> rows{};
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) rows[at(i)][at(j)] = all.matrix[at(used[at(i)])][at(used[at(j)])];
    rows[at(i)][at(count)] = all.right[at(used[at(i)])];
  }
  for (int column = 0; column < count; ++column) {
    int pivot = column;
    for (int i = column + 1; i < count; ++i) {
      if (std::abs(rows[at(i)][at(column)]) > std::abs(rows[at(pivot)][at(column)])) pivot = i;
    }
    std::swap(rows[at(column)], rows[at(pivot)]);
    const double leading = rows[at(column)][at(column)];
    if (std::abs(leading) < 1e-12) return std::nullopt;
    for (int i = 0; i < count; ++i) {
      if (i == column) continue;
      const double factor = rows[at(i)][at(column)] / leading;
      for (int j = column; j <= count; ++j) rows[at(i)][at(j)] -= factor * rows[at(column)][at(j)];
    }
  }
  std::array<double, kParameters> found{};
  for (int i = 0; i < count; ++i) found[at(used[at(i)])] = rows[at(i)][at(count)] / rows[at(i)][at(i)];
  return found;
}

}  // namespace

SpeedCurve::SpeedCurve(const std::vector<SpeedPoint>& measured, const std::vector<SpeedPoint>& declared,
                       const MemberShape& shape, const std::vector<model::ShapeCost>& costs)
    : shape_(shape), costs_(&costs) {
  std::map<int, double> points = bySize(declared);
  for (const auto& [members, speed] : bySize(measured)) points[members] = speed;
  known_ = !points.empty();
  if (known_) largestKnown_ = points.rbegin()->first;
  std::vector<Sample> samples;
  const auto add = [&](int members, double speed, double weight) {
    samples.push_back({rowOf(members), 1 / speed, weight});
  };
  if (known_) {
    for (const auto& [members, speed] : points) add(members, speed, 1);
    const auto& [first, slowest] = *points.begin();
    const auto& [last, fastest] = *points.rbegin();
    add(2 * last, fastest * priorSpeedUp(2 * last) / priorSpeedUp(last), kPriorWeight);
    if (first > 1) add(1, slowest / priorSpeedUp(first), kPriorWeight);
  } else {
    constexpr int kPriorSizes = 10;  // 1 to 512
    for (int i = 0; i < kPriorSizes; ++i) add(1 << i, kUnit * priorSpeedUp(1 << i), 1);
  }
  fit(samples);
  costs_ = nullptr;  // the vector belongs to the caller
}

SpeedCurve::Row SpeedCurve::rowOf(int members) const {
  const double n = members;
  const int perNode = std::max(shape_.membersPerNode, 1);
  const double nodes = (members + perNode - 1) / perNode;  // NOLINT(bugprone-integer-division)
  return {1 / n, (n - 1) / n, (nodes - 1) / nodes};
}

double SpeedCurve::timeOf(int members) const {
  const Row row = rowOf(members);
  double time = 0;
  for (std::size_t i = 0; i < row.size(); ++i) time += row[i] * parameters_[i];
  return time;
}

double SpeedCurve::speedUp(int members) const { return timeOf(1) / timeOf(std::max(members, 1)); }

double SpeedCurve::priorSpeedUp(int members) const {
  const int perNode = std::max(shape_.membersPerNode, 1);
  const int nodes = (members + perNode - 1) / perNode;
  const int gpus = std::min(members, perNode) * shape_.gpusEach;
  for (const model::ShapeCost& each : *costs_) {
    if (each.nodes == nodes && each.gpusPerNode == gpus && each.slowdownPermille > 0)
      return members * kPermille / each.slowdownPermille;
  }
  return std::pow(kTwiceAsMany / kPermille, std::log2(members));
}

void SpeedCurve::fit(const std::vector<Sample>& samples) {
  System system;
  for (const Sample& each : samples) {
    // Relative errors: a slow size must not count for more.
    const double weight = each.weight / (each.time * each.time);
    for (std::size_t i = 0; i < kParameters; ++i) {
      for (std::size_t j = 0; j < kParameters; ++j)
        system.matrix[i][j] += weight * each.row[i] * each.row[j] * kUnit * kUnit;
      system.right[i] += weight * each.row[i] * each.time * kUnit * kUnit;
    }
  }
  // One scale for all entries; without it the pivots have no meaning.
  const double norm = std::max(system.matrix[0][0], 1e-300);
  for (std::size_t i = 0; i < kParameters; ++i) {
    for (double& each : system.matrix[i]) each /= norm;
    system.right[i] /= norm;
  }
  std::optional<double> best;
  // Every choice includes the first parameter, the computation: a single member has no other.
  for (const unsigned chosen : {1U, 3U, 5U, 7U}) {
    const auto found = solve(system, chosen);
    if (!found || !(found->front() > 0) ||
        std::any_of(found->begin(), found->end(), [](double each) { return each < 0; }))
      continue;
    double error = 0;
    for (const Sample& each : samples) {
      double time = 0;
      for (std::size_t i = 0; i < kParameters; ++i) time += (*found)[i] * each.row[i];
      const double off = time / each.time - 1;
      error += each.weight * off * off;
    }
    // An additional parameter must reduce the error.
    if (best && error >= *best * (1 - 1e-9)) continue;
    best = error;
    parameters_ = *found;
  }
}

}  // namespace trainyard::core
