#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "core/place/fragmentation.h"
#include "replay/engine/options.h"

namespace trainyard::replay {

struct DeviceNode {
  std::string name;
  core::DeviceCapacity available;  // of an empty node
};

// GPUs that pods share in thousandths, which kube-scheduler's extended resources cannot express: the replay's
// own model. Pods arrive one at a time and never leave. A fraction of a GPU is on one GPU; several GPUs are
// whole ones.
//
// How a pod's node is chosen; ties go to the first node in the given order (for fgd this is the paper's only
// rule, and its device is the first of equals as well):
// default  least growth of fragmentation by Trainyard's measure (core/place/fragmentation.h) over the present
// kinds of pods; among equal nodes the one that best fit takes
// fgd      least growth of fragmentation by the paper's measure
// bestfit  least left: half the free cpu by the cluster's largest node, half the free
// GPUs by the largest node; a fraction of a GPU goes to the fullest device that fits
// it
// random   any node that fits, and any of its devices that fits
class DeviceCluster {
 public:
  // `kinds` are all shapes that will be offered; `counts` are the numbers of pods of each.
  DeviceCluster(std::vector<DeviceNode> nodes, std::vector<core::TaskShape> kinds,
                const std::vector<std::int64_t>& counts, ReplayPlacement placement, std::uint64_t seed);

  // Returns the chosen node; nullopt if the pod fits nowhere.
  std::optional<std::size_t> offer(std::size_t kind);

  [[nodiscard]] const std::vector<DeviceNode>& nodes() const { return nodes_; }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }    // thousandths of GPUs
  [[nodiscard]] std::int64_t allocated() const { return allocated_; }  // thousandths of GPUs

 private:
  // The effect of a pod of one kind on one node; valid until the node changes.
  struct Prospect {
    std::uint32_t version = 0;  // of the node; 0: not computed yet
    bool fits = false;
    std::size_t device = core::DeviceCapacity::kFromWhole;
    std::int64_t cost = 0;
    std::int64_t tie = 0;
  };

  [[nodiscard]] std::int64_t fragmentationOf(const core::DeviceCapacity& available) const;
  [[nodiscard]] Prospect look(std::size_t node, std::size_t kind);
  void leastGrowth(std::size_t node, const core::TaskShape& task, Prospect& prospect) const;
  [[nodiscard]] std::int64_t leftAfter(const core::DeviceCapacity& available,
                                       const core::TaskShape& task) const;

  std::vector<DeviceNode> nodes_;
  std::vector<core::TaskShape> kinds_;
  ReplayPlacement placement_;
  base::Rng rng_;
  core::JobMix mix_;
  std::vector<std::uint32_t> versions_;           // of the nodes
  std::vector<std::int64_t> fragmentation_;       // of the nodes in their present state
  std::vector<std::vector<Prospect>> prospects_;  // by kind, then node
  std::int64_t mostCpu_ = 1;                      // of any node
  std::int64_t mostDevices_ = 1;                  // thousandths
  std::int64_t capacity_ = 0;
  std::int64_t allocated_ = 0;
};

}  // namespace trainyard::replay
