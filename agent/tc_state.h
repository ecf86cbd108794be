#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::agent {

// The traffic control of one device, as values: what is wanted of the kernel, and what it has.

// Our qdisc on every device, "7472:" as tc writes it. Whatever has another handle is somebody else's, and is
// never touched.
inline constexpr std::uint32_t kMajor = 0x7472;
inline constexpr std::uint32_t kQdiscHandle = kMajor << 16;
inline constexpr std::uint16_t kLinkClass = 1;    // the whole link, parent of the others
inline constexpr std::uint16_t kOthersClass = 2;  // all traffic that nobody orders
inline constexpr std::uint16_t kFirstJobClass = 0x10;
inline constexpr std::uint16_t kLastJobClass = 0xfff0;
// Of our filters on IPv4 and IPv6; the kernel wants them apart.
inline constexpr std::uint16_t kFilterPriority4 = 0x7472;
inline constexpr std::uint16_t kFilterPriority6 = 0x7473;

// Addresses of both families: IPv4 in the first four bytes.
struct IpAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};
// nullopt: no address.
[[nodiscard]] std::optional<IpAddress> parseIpAddress(const std::string& text);

// What a packet is known by.
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
  std::uint16_t minor = 0;  // of the class that gets it
  friend auto operator<=>(const TcFilter&, const TcFilter&) = default;
};

// What a device should have. Empty classes: nothing of ours.
struct WantedLink {
  std::vector<TcClass> classes;   // parents first
  std::vector<TcFilter> filters;  // sorted
  friend bool operator==(const WantedLink&, const WantedLink&) = default;
};

struct FoundClass {
  TcClass shape;
  std::uint64_t sentBytes = 0;
  std::uint64_t waitingBytes = 0;
  std::uint64_t waitingPackets = 0;
};

struct FoundFilter {
  std::uint32_t handle = 0;
  std::uint16_t priority = 0;
  bool v6 = false;
  // Absent: at our priority, but not as we write them.
  std::optional<TcFilter> filter = std::nullopt;
};

// Whose the root of the device is.
enum class RootOwner { kDefault, kOurs, kForeign };

struct FoundLink {
  RootOwner root = RootOwner::kDefault;
  std::string rootKind;            // "htb", "mq", …
  std::uint16_t defaultMinor = 0;  // ours: where packets go that no filter knows
  std::vector<FoundClass> classes;
  std::vector<FoundFilter> filters;
};

}  // namespace trainyard::agent
