#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::agent {

// The traffic control of one device, as values: what the kernel should have, and what it has.

// The handle of our qdisc on every device, "7472:" as tc writes it. A qdisc with another handle belongs to
// another program, and is never changed.
inline constexpr std::uint32_t kMajor = 0x7472;
inline constexpr std::uint32_t kQdiscHandle = kMajor << 16;
inline constexpr std::uint16_t kLinkClass = 1;    // the whole link, parent of the others
inline constexpr std::uint16_t kOthersClass = 2;  // all traffic that is not ordered
inline constexpr std::uint16_t kFirstJobClass = 0x10;
inline constexpr std::uint16_t kLastJobClass = 0xfff0;
// The priorities of our filters for IPv4 and IPv6; the kernel requires different ones.
inline constexpr std::uint16_t kFilterPriority4 = 0x7472;
inline constexpr std::uint16_t kFilterPriority6 = 0x7473;

// An address of either family; IPv4 uses the first four bytes.
struct IpAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};
// nullopt: the text is not an address.
[[nodiscard]] std::optional<IpAddress> parseIpAddress(const std::string& text);

// Identifies packets by their source.
struct FlowKey {
  IpAddress source;
  std::uint16_t sourcePort = 0;  // of TCP; 0: any packet of the address
  friend auto operator<=>(const FlowKey&, const FlowKey&) = default;
};

struct TcClass {
  std::uint16_t minor = 0;
  std::uint16_t parentMinor = 0;  // 0: the qdisc itself
  std::uint32_t band = 0;         // htb's prio
  std::uint64_t rate = 0;         // guaranteed, bytes a second
  std::uint64_t ceil = 0;
  friend bool operator==(const TcClass&, const TcClass&) = default;
};

struct TcFilter {
  FlowKey flow;
  std::uint16_t minor = 0;  // of the class that receives the packets
  friend auto operator<=>(const TcFilter&, const TcFilter&) = default;
};

// What a device should have. Empty classes: no qdisc of ours.
struct WantedLink {
  std::vector<TcClass> classes;   // parents first
  std::vector<TcFilter> filters;  // sorted
  friend bool operator==(const WantedLink&, const WantedLink&) = default;
};

struct FoundClass {
  TcClass shape;
  std::uint64_t sentBytes = 0;
  std::uint64_t waitingPackets = 0;
};

struct FoundFilter {
  std::uint32_t handle = 0;
  std::uint16_t priority = 0;
  bool v6 = false;
  // Absent: at our priority, but not in the form that we write.
  std::optional<TcFilter> filter = std::nullopt;
};

// The owner of the device's root qdisc.
enum class RootOwner { kDefault, kOurs, kForeign };

struct FoundLink {
  RootOwner root = RootOwner::kDefault;
  std::string rootKind;            // "htb", "mq", …
  std::uint16_t defaultMinor = 0;  // ours: the class of packets that match no filter
  std::vector<FoundClass> classes;
  std::vector<FoundFilter> filters;
};

}  // namespace trainyard::agent
