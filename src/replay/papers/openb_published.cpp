#include "replay/papers/openb_published.h"

#include <array>
#include <cstdint>
#include <map>

namespace trainyard::replay {
namespace {

// FNV-1a (Fowler, Noll, Vo) over numbers of eight bytes.
class Fnv {
 public:
  void add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      value_ ^= static_cast<std::uint64_t>(number) >> shift & 0xff;
      value_ *= 0x100000001b3;
    }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// A hash over the numbers of nodes and pods of each shape. Models of nodes are left out: they have no effect
// while no pod requests one, and lists with such requests differ in their pods.
std::uint64_t fingerprint(const OpenbTrace& trace) {
  std::map<std::array<std::int64_t, 3>, std::int64_t> nodes;
  for (const DeviceNode& node : trace.nodes)
    ++nodes[{node.available.cpu, node.available.memory, node.available.whole}];
  std::map<core::TaskShape, std::int64_t> pods;
  for (std::size_t i = 0; i < trace.kinds.size(); ++i) pods[trace.kinds[i]] += trace.counts[i];

  Fnv hash;
  for (const auto& [shape, count] : nodes) {
    for (const std::int64_t number : shape) hash.add(number);
    hash.add(count);
  }
  for (const auto& [shape, count] : pods) {
    hash.add(shape.cpu);
    hash.add(shape.memory);
    hash.add(shape.devices);
    hash.add(shape.perDevice);
    hash.add(static_cast<std::int64_t>(shape.models));
    hash.add(count);
  }
  return hash.value();
}

// openb_node_list_gpu_node.csv with openb_pod_list_default.csv: 1,213 nodes, 8,152 pods.
constexpr std::uint64_t kDefaultLists = 0xcdb71523abeba21e;

}  // namespace

std::optional<double> openbPublished(const OpenbTrace& trace, ReplayPlacement placement) {
  if (fingerprint(trace) != kDefaultLists) return std::nullopt;
  switch (placement) {
    case ReplayPlacement::kRandom: return 0.8747;
    case ReplayPlacement::kBestFit: return 0.9308;
    case ReplayPlacement::kFgd: return 0.9539;
    case ReplayPlacement::kDefault: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainyard::replay
