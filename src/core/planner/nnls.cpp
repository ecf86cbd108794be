#include "core/planner/nnls.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace trainyard::core {
namespace {

// A pivot below this fraction of its original size is a rounding error.
constexpr double kSingular = 1e-10;
constexpr double kZero = 1e-12;

class Solver {
 public:
  Solver(const Matrix& a, const std::vector<double>& y) : a_(a), y_(y), n_(a.empty() ? 0 : a.front().size()) {
    scaleColumns();
    gram_.assign(n_, std::vector<double>(n_, 0.0));
    target_.assign(n_, 0.0);
    for (std::size_t row = 0; row < a_.size(); ++row) {
      for (std::size_t i = 0; i < n_; ++i) {
        target_[i] += at(row, i) * y_[row];
        for (std::size_t j = 0; j < n_; ++j) gram_[i][j] += at(row, i) * at(row, j);
      }
    }
  }

  NnlsSolution run() {
    x_.assign(n_, 0.0);
    active_.assign(n_, false);
    // Each round adds one unknown; the bound on rounds guarantees an end.
    for (std::size_t turn = 0; turn < 10 * (n_ + 1); ++turn) {
      const std::size_t best = steepest();
      if (best == n_) break;
      active_[best] = true;
      settle();
    }
    NnlsSolution solution{x_, inverse()};
    for (std::size_t i = 0; i < n_; ++i) {
      solution.x[i] /= scale_[i];
      for (std::size_t j = 0; j < n_; ++j) solution.inverse[i][j] /= scale_[i] * scale_[j];
    }
    return solution;
  }

 private:
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return a_[row][column] / scale_[column];
  }

  void scaleColumns() {
    scale_.assign(n_, 0.0);
    for (const auto& row : a_) {
      for (std::size_t i = 0; i < n_; ++i) scale_[i] = std::max(scale_[i], std::abs(row[i]));
    }
    for (double& each : scale_) each = each > 0 ? each : 1.0;
  }

  // Returns the unknown at 0 along which the error falls fastest; n_ if there is none.
  [[nodiscard]] std::size_t steepest() const {
    std::size_t best = n_;
    double most = kZero;
    for (std::size_t i = 0; i < n_; ++i) {
      if (active_[i]) continue;
      double slope = target_[i];
      for (std::size_t j = 0; j < n_; ++j) slope -= gram_[i][j] * x_[j];
      if (slope > most && !dependent(i)) {
        most = slope;
        best = i;
      }
    }
    return best;
  }

  // Returns true if the candidate depends linearly on the active unknowns.
  [[nodiscard]] bool dependent(std::size_t candidate) const {
    std::vector<std::size_t> order = members();
    order.push_back(candidate);
    return !factor(order).has_value();
  }

  // Solves for the active unknowns; one that would be negative stops at 0 and becomes inactive.
  void settle() {
    for (std::size_t turn = 0; turn <= n_; ++turn) {
      const std::vector<double> wanted = solveActive();
      double step = 1.0;
      for (std::size_t i = 0; i < n_; ++i) {
        if (active_[i] && wanted[i] <= 0) step = std::min(step, x_[i] / (x_[i] - wanted[i] + 1e-300));
      }
      bool left = false;
      for (std::size_t i = 0; i < n_; ++i) {
        if (!active_[i]) continue;
        x_[i] += step * (wanted[i] - x_[i]);
        if (wanted[i] <= 0 && x_[i] <= kZero) {
          x_[i] = 0;
          active_[i] = false;
          left = true;
        }
      }
      if (!left) return;
    }
  }

  [[nodiscard]] std::vector<std::size_t> members() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < n_; ++i) {
      if (active_[i]) all.push_back(i);
    }
    return all;
  }

  // Returns Cholesky's factor of the rows and columns of the normal equations for these unknowns.
  [[nodiscard]] std::optional<Matrix> factor(const std::vector<std::size_t>& order) const {
    const std::size_t size = order.size();
    Matrix lower(size, std::vector<double>(size, 0.0));
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = gram_[order[i]][order[j]];
        for (std::size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
        if (i != j) {
          lower[i][j] = sum / lower[j][j];
        } else if (sum > kSingular * gram_[order[i]][order[i]]) {
          lower[i][i] = std::sqrt(sum);
        } else {
          return std::nullopt;
        }
      }
    }
    return lower;
  }

  static std::vector<double> substitute(const Matrix& lower, std::vector<double> values) {
    const std::size_t size = values.size();
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < i; ++k) values[i] -= lower[i][k] * values[k];
      values[i] /= lower[i][i];
    }
    for (std::size_t i = size; i-- > 0;) {
      for (std::size_t k = i + 1; k < size; ++k) values[i] -= lower[k][i] * values[k];
      values[i] /= lower[i][i];
    }
    return values;
  }

  [[nodiscard]] std::vector<double> solveActive() const {
    const std::vector<std::size_t> order = members();
    std::vector<double> all(n_, 0.0);
    const auto lower = factor(order);
    if (!lower) return all;
    std::vector<double> values;
    for (const std::size_t each : order) values.push_back(target_[each]);
    values = substitute(*lower, std::move(values));
    for (std::size_t i = 0; i < order.size(); ++i) all[order[i]] = values[i];
    return all;
  }

  [[nodiscard]] Matrix inverse() const {
    Matrix all(n_, std::vector<double>(n_, 0.0));
    const std::vector<std::size_t> order = members();
    const auto lower = factor(order);
    if (!lower) return all;
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::vector<double> unit(order.size(), 0.0);
      unit[i] = 1.0;
      unit = substitute(*lower, std::move(unit));
      for (std::size_t j = 0; j < order.size(); ++j) all[order[j]][order[i]] = unit[j];
    }
    return all;
  }

  const Matrix& a_;
  const std::vector<double>& y_;
  std::size_t n_;
  std::vector<double> scale_;
  Matrix gram_;
  std::vector<double> target_;
  std::vector<double> x_;
  std::vector<bool> active_;
};

}  // namespace

NnlsSolution solveNnls(const Matrix& a, const std::vector<double>& y) { return Solver(a, y).run(); }

}  // namespace trainyard::core
