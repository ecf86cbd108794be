#include "codec/template_hash.h"

#include <fmt/format.h>

namespace trainyard::codec {
namespace {

__extension__ using Wide = unsigned __int128;

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
  void addByte(unsigned char byte) {
    state_ ^= byte;
    state_ *= kPrime;
  }
  static constexpr Wide kPrime = (static_cast<Wide>(0x0000000001000000ULL) << 64) | 0x000000000000013BULL;
  Wide state_ = (static_cast<Wide>(0x6C62272E07BB0142ULL) << 64) | 0x62B821756295C58DULL;
};

}  // namespace

std::string templateHash(const Field& spec, const model::JobSpec& decoded) {
  Fnv128 hash;
  hash.add(spec["framework"].text());
  std::size_t index = 0;
  spec["roles"].forEachElement([&](const Field& element) {
    if (index >= decoded.roles.size()) return;
    const model::Role& role = decoded.roles[index++];
    hash.add(role.name);
    hash.add(fmt::to_string(decoded.startReplicas(role)));
    hash.add(element["template"].value().canonical());
  });
  // A member's time to end, where it is not the template's alone.
  if (decoded.checkpoint && decoded.checkpoint->mode == model::CheckpointMode::kSignal)
    hash.add(fmt::to_string(decoded.checkpoint->gracePeriod.count()));
  if (!decoded.priorityClassName.empty()) hash.add(decoded.priorityClassName);
  return hash.hex();
}

}  // namespace trainyard::codec
