#include "core/planner/hardware.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace trainyard::core {
namespace {

// Tera-operations a second from the data sheets: dense fp16 or bf16 with fp32 sums for GPUs with tensor
// cores, else fp32. A longer name comes before any name that it contains.
constexpr std::array<std::pair<std::string_view, double>, 20> kPeak{
    {{"gb200", 2500}, {"b200", 2250}, {"h200", 989}, {"h100", 989}, {"a100", 312},
     {"mi300", 1307}, {"mi250", 362}, {"l40", 181},  {"a10g", 70},  {"a10", 125},
     {"a40", 150},    {"a30", 165},   {"l4", 121},   {"v100", 125}, {"t4", 65},
     {"p100", 21},    {"p40", 12},    {"p4", 5.5},   {"m60", 4.8},  {"k80", 4.4}}};
constexpr double kTera = 1e12;
constexpr double kReached = 1.0 / 3;

}  // namespace

double sustainedFlops(std::string_view gpuType) {
  std::string name(gpuType);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto at = std::find_if(kPeak.begin(), kPeak.end(),
                               [&](const auto& each) { return name.find(each.first) != std::string::npos; });
  return at == kPeak.end() ? 0 : at->second * kTera * kReached;
}

}  // namespace trainyard::core
