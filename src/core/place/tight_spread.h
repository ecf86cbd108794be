#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/place/domain_candidate.h"
#include "core/place/node_preference.h"
#include "core/place/problem.h"

namespace trainyard::core {

// Puts members of one kind into as few domains as possible: into the tightest inner domain that holds all of
// them, else into whole ones, the largest first, and the remainder by the same rule.
class TightSpread {
 public:
  // `fits`: how many members each node of the range holds, by position.
  TightSpread(const PlaceProblem& problem, NodePreference& preference, const PlaceProblem::Kind& kind,
              Domains::Range range, std::vector<std::int64_t> fits)
      : problem_(problem),
        preference_(preference),
        kind_(kind),
        whole_(range),
        fits_(std::move(fits)),
        taken_(fits_.size(), 0) {}

  // `range`: a domain of the level. It has to hold as many.
  void spread(std::size_t level, Domains::Range range, std::int64_t count);
  [[nodiscard]] std::vector<std::int64_t> result() { return std::move(taken_); }

 private:
  void fillLargest(std::size_t level, Domains::Range range, std::int64_t count);
  [[nodiscard]] bool lonelier(const DomainCandidate& a, const DomainCandidate& b);
  [[nodiscard]] bool crowded(const DomainCandidate& node);
  [[nodiscard]] std::vector<DomainCandidate> candidatesOf(std::size_t level, Domains::Range range) const;
  void take(std::uint32_t position, std::int64_t count);

  const PlaceProblem& problem_;
  NodePreference& preference_;
  const PlaceProblem::Kind& kind_;
  Domains::Range whole_;
  std::vector<std::int64_t> fits_;
  std::vector<std::int64_t> taken_;
};

}  // namespace trainyard::core
