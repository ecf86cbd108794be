#pragma once

#include <string_view>

namespace trainyard::core {

// Floating-point operations a second that training reaches on one GPU of a type, by label value or any part
// of it ("NVIDIA-A100-SXM4-80GB", "T4"). It is a third of the vendor's figure for the training format, which
// is what published runs reach. 0 for an unknown type. With any measurement, only the ratio between types
// matters.
[[nodiscard]] double sustainedFlops(std::string_view gpuType);

// For a GPU of an unknown type, and for one core of a CPU.
inline constexpr double kUnknownGpuFlops = 5e12;
inline constexpr double kCoreFlops = 2e10;

// Bytes a second of a node's network without the label below: 10 Gbit/s.
inline constexpr double kNicBytesPerSecond = 1.25e9;
// The label with the speed of the node's network, a whole number of Gbit/s.
inline constexpr std::string_view kNetworkLabel = "trainyard.dev/network-gbps";

}  // namespace trainyard::core
