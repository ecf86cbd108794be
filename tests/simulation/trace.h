#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace trainyard::simulation {

// A fingerprint of all messages of a run: equal runs have equal ones. Prints every line on request.
class Trace {
 public:
  explicit Trace(bool print) : print_(print) {}
  void add(base::Instant now, std::string_view subject, std::string_view what, std::string_view text);
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  void mix(std::string_view text);

  bool print_;
  std::uint64_t hash_ = 0xCBF2'9CE4'8422'2325ULL;
  std::uint64_t lines_ = 0;
};

}  // namespace trainyard::simulation
