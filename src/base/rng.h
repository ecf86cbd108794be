#pragma once

#include <cstdint>

namespace trainyard::base {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014). It
// replaces <random>, which has different distributions in different standard libraries: a seed must replay
// everywhere.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  // Uniform in [0, bound); 0 for bound 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high);
  // True in `numerator` of `denominator` cases.
  bool chance(std::uint64_t numerator, std::uint64_t denominator) { return below(denominator) < numerator; }
  // Returns an independent stream, so that one consumer's draws do not shift another's.
  Rng split() { return Rng(next()); }

 private:
  std::uint64_t state_;
};

// Returns a seed from the operating system's entropy, for production use only.
[[nodiscard]] std::uint64_t entropySeed();

}  // namespace trainyard::base
