#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::agent {

// The device that the default route of least metric leads through, from the text of /proc/net/route. kInvalid
// where there is none.
[[nodiscard]] base::Result<std::string> defaultDevice(std::string_view routes);

// The same from the text of /proc/net/ipv6_route, for nodes without IPv4.
[[nodiscard]] base::Result<std::string> defaultDevice6(std::string_view routes);

// Bytes a second, from the text of /sys/class/net/DEVICE/speed (megabits a second). kInvalid where the driver
// does not know, as on virtual devices.
[[nodiscard]] base::Result<std::uint64_t> linkRate(std::string_view speed);

// "25gbit", "200mbit", "100kbit": bytes a second. kInvalid names the text.
[[nodiscard]] base::Result<std::uint64_t> parseRate(std::string_view text);

}  // namespace trainyard::agent
