#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/place/problem.h"

namespace trainyard::core {

// The remaining capacity of the range's nodes while kinds are placed on them.
class CapacityCopy {
 public:
  CapacityCopy(const PlaceProblem& problem, Domains::Range range)
      : problem_(problem), range_(range), width_(problem.dimensions().size()) {
    capacity_.assign(problem.capacityAt(range.begin),
                     problem.capacityAt(range.begin) + (range.end - range.begin) * width_);
  }

  [[nodiscard]] std::int64_t fits(const PlaceProblem::Kind& kind, std::size_t offset,
                                  std::int64_t limit) const {
    if (kind.open[range_.begin + offset] == 0) return 0;
    return problem_.timesCovered(kind, capacity_.data() + offset * width_, limit);
  }

  [[nodiscard]] std::vector<std::int64_t> fitsOf(const PlaceProblem::Kind& kind) const {
    std::vector<std::int64_t> fits(range_.end - range_.begin);
    for (std::size_t offset = 0; offset < fits.size(); ++offset)
      fits[offset] = this->fits(kind, offset, kind.count);
    return fits;
  }

  void take(const PlaceProblem::Kind& kind, std::size_t offset, std::int64_t count) {
    for (std::size_t i = 0; i < width_; ++i) capacity_[offset * width_ + i] -= kind.demand[i] * count;
  }

 private:
  const PlaceProblem& problem_;
  Domains::Range range_;
  std::size_t width_;
  std::vector<std::int64_t> capacity_;
};

}  // namespace trainyard::core
