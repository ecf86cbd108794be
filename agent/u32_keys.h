#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/tc_state.h"

namespace trainyard::agent {

// One key of a u32 filter: a word of the packet's header under a mask. Value and mask are in network byte
// order, as libnl has them.
struct U32Key {
  std::uint32_t value = 0;
  std::uint32_t mask = 0;
  int offset = 0;
  int offsetMask = 0;
  friend bool operator==(const U32Key&, const U32Key&) = default;
};

// The keys that match packets of the flow, in the form that the kernel returns for our filters.
[[nodiscard]] std::vector<U32Key> keysFor(const FlowKey& flow);

// The flow of a filter; nullopt if its keys are not in the form that we write.
[[nodiscard]] std::optional<FlowKey> flowOf(const std::vector<U32Key>& keys, bool v6);

}  // namespace trainyard::agent
