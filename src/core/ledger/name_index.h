#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace trainyard::core {

// Positions by text, for a list that is searched many times and then discarded: one block of memory, where a
// map would allocate for each entry. The texts must outlive the index; the first of equal texts counts.
class NameIndex {
 public:
  explicit NameIndex(std::size_t capacity) {
    std::size_t size = 16;
    while (size < 2 * capacity) size *= 2;
    slots_.resize(size);
  }

  // Must not be called for more than `capacity` texts.
  void add(std::string_view text, std::size_t position) {
    const std::size_t hash = std::hash<std::string_view>()(text);
    for (std::size_t at = hash;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.text.data() == nullptr) {
        slot = {text, static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(position)};
        return;
      }
      if (slot.text == text) return;
    }
  }

  [[nodiscard]] std::optional<std::size_t> find(std::string_view text) const {
    const std::size_t hash = std::hash<std::string_view>()(text);
    for (std::size_t at = hash;; ++at) {
      const Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.text.data() == nullptr) return std::nullopt;
      if (slot.hash == static_cast<std::uint32_t>(hash) && slot.text == text) return slot.position;
    }
  }

 private:
  struct Slot {
    std::string_view text;
    std::uint32_t hash = 0;
    std::uint32_t position = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace trainyard::core
