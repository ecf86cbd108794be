#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/place/capacity_copy.h"
#include "core/place/packer.h"

namespace trainyard::core {

// Packs several kinds by dynamic programming over the nodes. State: the members placed so far of every kind
// but the last; value: the largest count of the last kind beside them. The kind with the most members is the
// last, which keeps the number of states small.
class ExactSearch {
 public:
  ExactSearch(const PlaceProblem& problem, Domains::Range range);

  // Spends from the budget. Empty if the gang does not fit or the budget does not suffice.
  [[nodiscard]] std::optional<Packing> run(std::int64_t& budget);

 private:
  using Kind = PlaceProblem::Kind;
  static constexpr std::uint32_t kKeep = std::numeric_limits<std::uint32_t>::max();

  // One way to combine the kinds on a node: a count of each kind but the last, and the largest count of the
  // last beside them.
  struct Option {
    std::vector<std::int64_t> counts;  // in the order of the search, without the last kind
    std::size_t step = 0;              // what the counts add to the index of the state
    std::int64_t last = 0;
  };
  struct Round {
    std::size_t offset = 0;
    std::vector<Option> options;
  };

  [[nodiscard]] const Kind& kind(std::size_t rank) const { return problem_.kinds()[order_[rank]]; }
  bool countStates(std::int64_t budget);
  std::vector<Option> optionsAt(std::size_t offset, std::int64_t& budget);
  void collect(std::size_t offset, std::size_t rank, Option& current, std::vector<Option>& options,
               std::int64_t& budget);
  void advance(std::vector<Option>& options);
  [[nodiscard]] bool staysWithinNeed(std::size_t state, const Option& option) const;
  [[nodiscard]] Packing trace() const;

  const PlaceProblem& problem_;
  Domains::Range range_;
  CapacityCopy capacity_;
  std::vector<std::size_t> order_;    // kinds by their number of members
  std::vector<std::size_t> strides_;  // of a state's index, per kind but the last
  std::size_t states_ = 1;
  std::vector<std::int64_t> best_;
  std::vector<Round> rounds_;
  std::vector<std::vector<std::uint32_t>> chosen_;
};

}  // namespace trainyard::core
