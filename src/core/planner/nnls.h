#pragma once

#include <vector>

namespace trainyard::core {

// One row for each equation.
using Matrix = std::vector<std::vector<double>>;

struct NnlsSolution {
  std::vector<double> x;
  // Inverse of AᵀA over the unknowns above 0, with rows and columns of zeros for the others. Multiplied by
  // the variance of the noise it is their covariance.
  Matrix inverse;
};

// Returns the x >= 0 that minimises |Ax - y|, by active sets (Lawson and Hanson, "Solving Least Squares
// Problems", 1974, chapter 23). It suits a handful of unknowns: it solves the inner systems by their normal
// equations with scaled columns. Of linearly dependent columns only the first is used. Every row of `a` has
// the same length; `y` has one entry for each row of `a`.
[[nodiscard]] NnlsSolution solveNnls(const Matrix& a, const std::vector<double>& y);

}  // namespace trainyard::core
