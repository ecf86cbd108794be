#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::agent {

// Returns the device of the default route with the lowest metric, from the text of /proc/net/route. kInvalid
// if there is no default route.
[[nodiscard]] base::Result<std::string> defaultDevice(std::string_view routes);

// Returns the same from the text of /proc/net/ipv6_route, for nodes without IPv4.
[[nodiscard]] base::Result<std::string> defaultDevice6(std::string_view routes);

// Returns bytes a second, from the text of /sys/class/net/DEVICE/speed (megabits a second). kInvalid if the
// driver reports no speed, as for virtual devices.
[[nodiscard]] base::Result<std::uint64_t> linkRate(std::string_view speed);

// Converts "25gbit", "200mbit" or "100kbit" to bytes a second. The message of kInvalid quotes the text.
[[nodiscard]] base::Result<std::uint64_t> parseRate(std::string_view text);

}  // namespace trainyard::agent
