#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace trainyard::codec {

// FNV-1a: equal parts yield equal texts, different parts different ones. It does not resist a deliberate
// search for collisions.
class Fnv128 {
 public:
  void add(std::string_view text) {
    for (const char c : text) addByte(static_cast<unsigned char>(c));
    addByte(0xFF);  // never part of UTF-8, so that "ab"+"c" and "a"+"bc" differ
  }
  [[nodiscard]] std::string hex() const {
    return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(state_ >> 64),
                       static_cast<std::uint64_t>(state_));
  }

 private:
  __extension__ using Wide = unsigned __int128;

  void addByte(unsigned char byte) {
    state_ ^= byte;
    state_ *= kPrime;
  }
  static constexpr Wide kPrime = (static_cast<Wide>(0x0000000001000000ULL) << 64) | 0x000000000000013BULL;
  Wide state_ = (static_cast<Wide>(0x6C62272E07BB0142ULL) << 64) | 0x62B821756295C58DULL;
};

}  // namespace trainyard::codec
