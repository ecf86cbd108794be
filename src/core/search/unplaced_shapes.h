#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "core/ledger/ledger.h"
#include "core/place/place.h"

namespace trainyard::core {

// The shapes that found no placement, and why. They hold for one state of the ledger: its version, and what
// was taken since.
class UnplacedShapes {
 public:
  // A shape (core/search/shape_numbers.h) and how wide it may be placed.
  using Question = std::pair<std::uint32_t, std::size_t>;

  // Drops what was remembered for another version of the ledger.
  void follow(const Ledger& ledger);
  void clear();

  // Whether a shape did not fit in this state of the ledger.
  [[nodiscard]] bool has(const Question& question, const Ledger& ledger) const;
  void remember(const Question& question, const Ledger& ledger) { failures_[question] = stateOf(ledger); }

  // Why a shape does not fit in this state of the ledger; nullptr: not computed.
  [[nodiscard]] std::shared_ptr<const PlacementFailure> reason(const Question& question,
                                                               const Ledger& ledger) const;
  void rememberReason(const Question& question, const Ledger& ledger,
                      std::shared_ptr<const PlacementFailure> failure) {
    reasons_[question] = {stateOf(ledger), std::move(failure)};
  }

 private:
  using State = std::pair<std::uint64_t, std::uint64_t>;
  [[nodiscard]] static State stateOf(const Ledger& ledger) { return {ledger.version(), ledger.takes()}; }

  std::uint64_t version_ = 0;
  std::map<Question, State> failures_;
  std::map<Question, std::pair<State, std::shared_ptr<const PlacementFailure>>> reasons_;
};

}  // namespace trainyard::core
