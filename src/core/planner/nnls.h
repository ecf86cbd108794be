#pragma once

#include <vector>

namespace trainyard::core {

// A row of numbers for each equation.
using Matrix = std::vector<std::vector<double>>;

struct NnlsSolution {
  std::vector<double> x;
  // Inverse of AᵀA over the unknowns that are above 0, with rows and columns of zeros for the others: times
  // the variance of the noise it is their covariance.
  Matrix inverse;
};

// The x >= 0 that minimises |Ax - y|, by active sets (Lawson and Hanson, "Solving Least Squares Problems",
// 1974, chapter 23). For a handful of unknowns: the systems in between are solved by their normal equations
// with scaled columns, where columns that depend on each other count as one, the first of them.
// Every row of `a` is as long as the others; `y` is as long as `a`.
[[nodiscard]] NnlsSolution solveNnls(const Matrix& a, const std::vector<double>& y);

}  // namespace trainyard::core
