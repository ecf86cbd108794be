#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "model/policy.h"
#include "model/resize.h"

namespace trainyard::core {

// How members of the elastic role are placed: as many on a node as fit.
struct MemberShape {
  int gpusEach = 0;
  int membersPerNode = 1;
};

// How much faster a job trains with another number of members.
//
// Assumes: a sample takes a·1/n + b·(n-1)/n + c·(N-1)/N with n members on N nodes: the members share its
// computation, and the traffic of a ring all-reduce grows as (n-1)/n among all and (N-1)/N between nodes
// (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009). a,
// b and c are not negative. Steps: 1 take the speeds that the job reported, else those that its owner
// declares, each size once; 2 add, with a tenth of the weight, the speeds that the cluster's table of shapes
// predicts for one member and for twice the largest known size (without the table: twice the members are
// kTwiceAsMany permille as fast), or for all sizes if none is known; 3 find the non-negative a, b, c with the
// least sum of squared relative errors: solve for each of the four subsets with a, and keep the best solution
// without negative values. Ties: fewer parameters. (Rejected: Pollux' seven parameters. They need the batch
// size and gradients, which most jobs never report.)
class SpeedCurve {
 public:
  SpeedCurve(const std::vector<model::SpeedPoint>& measured, const std::vector<model::SpeedPoint>& declared,
             const MemberShape& shape, const std::vector<model::ShapeCost>& costs);

  // Returns true if any speed was measured or declared.
  [[nodiscard]] bool known() const { return known_; }
  // Speed with `members`, as a multiple of the speed with one.
  [[nodiscard]] double speedUp(int members) const;
  // The largest size that was measured or declared; 0 without any.
  [[nodiscard]] int largestKnown() const { return largestKnown_; }

  static constexpr int kTwiceAsMany = 1'900;

 private:
  using Row = std::array<double, 3>;
  struct Sample {
    Row row{};
    double time = 0;  // of one sample
    double weight = 1;
  };
  [[nodiscard]] Row rowOf(int members) const;
  [[nodiscard]] double timeOf(int members) const;
  [[nodiscard]] double priorSpeedUp(int members) const;
  void fit(const std::vector<Sample>& samples);

  MemberShape shape_;
  const std::vector<model::ShapeCost>* costs_;
  Row parameters_{1, 0, 0};
  bool known_ = false;
  int largestKnown_ = 0;
};

}  // namespace trainyard::core
