#pragma once

#include <string_view>

namespace trainyard::core {

// Floating-point operations a second that training gets out of one GPU of a type, by label value or any part
// of it ("NVIDIA-A100-SXM4-80GB", "T4"): a third of the vendor's figure for the format that training uses
// there, which is what published runs reach. 0 for a type that is not known. Only the ratio between types
// matters where anything was measured.
[[nodiscard]] double sustainedFlops(std::string_view gpuType);

// For a GPU of a type that nobody knows, and for one core of a CPU.
inline constexpr double kUnknownGpuFlops = 5e12;
inline constexpr double kCoreFlops = 2e10;

// Bytes a second of a node's network where no label says otherwise: 10 Gbit/s.
inline constexpr double kNicBytesPerSecond = 1.25e9;
// The label that does, a whole number of Gbit/s.
inline constexpr std::string_view kNetworkLabel = "trainyard.dev/network-gbps";

}  // namespace trainyard::core
