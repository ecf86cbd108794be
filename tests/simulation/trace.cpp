#include "simulation/trace.h"

#include <chrono>

#include <fmt/format.h>

namespace trainyard::simulation {

void Trace::add(base::Instant now, std::string_view subject, std::string_view what, std::string_view text) {
  const auto at = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  ++lines_;
  mix(std::string_view(reinterpret_cast<const char*>(&at), sizeof at));
  mix(subject);
  mix(what);
  mix(text);
  if (print_) fmt::print(stderr, "{:>10.3f} {} {} {}\n", static_cast<double>(at) / 1000, subject, what, text);
}

// FNV-1a: enough to distinguish runs, and equal on every machine.
void Trace::mix(std::string_view text) {
  for (const char c : text) {
    hash_ ^= static_cast<unsigned char>(c);
    hash_ *= 0x100'0000'01B3ULL;
  }
  hash_ ^= 0xFF;
  hash_ *= 0x100'0000'01B3ULL;
}

}  // namespace trainyard::simulation
