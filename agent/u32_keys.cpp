#include "agent/u32_keys.h"

#include <netinet/in.h>

#include <cstddef>
#include <cstring>

namespace trainyard::agent {
namespace {

// Offsets of the header fields that filters match. TCP's ports follow an IPv4 header without options, as tc's
// own "match ip sport" assumes.
constexpr int kSource4 = 12;
constexpr int kSource6 = 8;
constexpr int kPorts4 = 20;
constexpr int kPorts6 = 40;
constexpr int kProtocol4 = 8;
constexpr int kProtocol6 = 4;

void addWord(std::vector<U32Key>& keys, std::uint32_t value, std::uint32_t mask, int offset) {
  keys.push_back({htonl(value), htonl(mask), offset, 0});
}

}  // namespace

std::vector<U32Key> keysFor(const FlowKey& flow) {
  std::vector<U32Key> keys;
  const bool v6 = flow.source.v6;
  for (int word = 0; word < (v6 ? 4 : 1); ++word) {
    std::uint32_t value = 0;
    std::memcpy(&value, flow.source.bytes.data() + 4 * word, sizeof value);
    keys.push_back({value, 0xffffffff, (v6 ? kSource6 : kSource4) + 4 * word, 0});
  }
  if (flow.sourcePort == 0) return keys;
  if (v6) {
    addWord(keys, IPPROTO_TCP << 8, 0x0000ff00, kProtocol6);
    addWord(keys, std::uint32_t{flow.sourcePort} << 16, 0xffff0000, kPorts6);
  } else {
    addWord(keys, IPPROTO_TCP << 16, 0x00ff0000, kProtocol4);
    addWord(keys, std::uint32_t{flow.sourcePort} << 16, 0xffff0000, kPorts4);
  }
  return keys;
}

std::optional<FlowKey> flowOf(const std::vector<U32Key>& keys, bool v6) {
  const std::size_t words = v6 ? 4 : 1;
  if (keys.size() != words && keys.size() != words + 2) return std::nullopt;
  FlowKey flow;
  flow.source.v6 = v6;
  for (std::size_t i = 0; i < words; ++i)
    std::memcpy(flow.source.bytes.data() + 4 * i, &keys[i].value, sizeof keys[i].value);
  if (keys.size() > words) flow.sourcePort = static_cast<std::uint16_t>(ntohl(keys.back().value) >> 16);
  return keys == keysFor(flow) ? std::optional(flow) : std::nullopt;
}

}  // namespace trainyard::agent
