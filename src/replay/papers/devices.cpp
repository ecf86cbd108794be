#include "replay/papers/devices.h"

#include <algorithm>
#include <utility>

namespace trainyard::replay {
namespace {

using core::DeviceCapacity;
using core::TaskShape;

// Returns the fitting device with the least capacity left; a whole one only if no other device fits.
std::size_t fullestDevice(const DeviceCapacity& available, const TaskShape& task) {
  std::size_t best = DeviceCapacity::kFromWhole;
  for (std::size_t i = 0; i < available.sharedCount; ++i) {
    if (available.shared[i] < task.perDevice) continue;
    if (best == DeviceCapacity::kFromWhole || available.shared[i] < available.shared[best]) best = i;
  }
  return best;
}

bool isPart(const TaskShape& task) { return task.devices > 0 && task.perDevice < core::kWholeDevice; }

}  // namespace

DeviceCluster::DeviceCluster(std::vector<DeviceNode> nodes, std::vector<TaskShape> kinds,
                             const std::vector<std::int64_t>& counts, ReplayPlacement placement,
                             std::uint64_t seed)
    : nodes_(std::move(nodes)),
      kinds_(std::move(kinds)),
      placement_(placement),
      rng_(seed),
      versions_(nodes_.size(), 1),
      prospects_(kinds_.size()) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    mix_.add(kinds_[i], counts[i]);
  }
  for (const DeviceNode& node : nodes_) {
    mostCpu_ = std::max(mostCpu_, node.available.cpu);
    mostDevices_ = std::max(mostDevices_, node.available.deviceAmount());
    capacity_ += node.available.deviceAmount();
    fragmentation_.push_back(fragmentationOf(node.available));
  }
}

std::optional<std::size_t> DeviceCluster::offer(std::size_t kind) {
  std::vector<Prospect>& prospects = prospects_[kind];
  prospects.resize(nodes_.size());
  std::optional<std::size_t> best;
  std::uint64_t fitting = 0;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    Prospect& prospect = prospects[node];
    if (prospect.version != versions_[node]) prospect = look(node, kind);
    if (!prospect.fits) continue;
    ++fitting;
    if (placement_ == ReplayPlacement::kRandom) {
      // The n-th fitting node replaces the choice with probability 1/n: uniform over all of them.
      if (rng_.below(fitting) == 0) best = node;
      continue;
    }
    if (!best ||
        std::pair(prospect.cost, prospect.tie) < std::pair(prospects[*best].cost, prospects[*best].tie))
      best = node;
  }
  if (!best) return std::nullopt;

  const TaskShape& task = kinds_[kind];
  DeviceCapacity& available = nodes_[*best].available;
  std::size_t device = prospects[*best].device;
  if (placement_ == ReplayPlacement::kRandom && isPart(task)) {
    std::vector<std::size_t> devices(static_cast<std::size_t>(available.whole), DeviceCapacity::kFromWhole);
    for (std::size_t i = 0; i < available.sharedCount; ++i) {
      if (available.shared[i] >= task.perDevice) devices.push_back(i);
    }
    device = devices[rng_.below(devices.size())];
  }
  available.take(task, device);
  allocated_ += task.deviceAmount();
  ++versions_[*best];
  fragmentation_[*best] = fragmentationOf(available);
  return best;
}

std::int64_t DeviceCluster::fragmentationOf(const DeviceCapacity& available) const {
  const bool paper = placement_ == ReplayPlacement::kFgd;
  return core::fragmentation(available, mix_,
                             paper ? core::FragmentMeasure::kFirstTask : core::FragmentMeasure::kFed);
}

DeviceCluster::Prospect DeviceCluster::look(std::size_t node, std::size_t kind) {
  const TaskShape& task = kinds_[kind];
  const DeviceCapacity& available = nodes_[node].available;
  Prospect prospect;
  prospect.version = versions_[node];
  prospect.fits = available.fits(task);
  if (!prospect.fits || placement_ == ReplayPlacement::kRandom) return prospect;
  if (placement_ == ReplayPlacement::kBestFit) {
    prospect.cost = leftAfter(available, task);
    if (isPart(task)) prospect.device = fullestDevice(available, task);
    return prospect;
  }
  leastGrowth(node, task, prospect);
  if (placement_ == ReplayPlacement::kDefault) prospect.tie = leftAfter(available, task);
  return prospect;
}

void DeviceCluster::leastGrowth(std::size_t node, const TaskShape& task, Prospect& prospect) const {
  const DeviceCapacity& available = nodes_[node].available;
  const auto growth = [&](std::size_t device) {
    DeviceCapacity after = available;
    after.take(task, device);
    return fragmentationOf(after) - fragmentation_[node];
  };
  if (!isPart(task)) {
    prospect.cost = growth(DeviceCapacity::kFromWhole);
    return;
  }
  bool any = false;
  const auto consider = [&](std::size_t device) {
    const std::int64_t cost = growth(device);
    if (any && cost >= prospect.cost) return;
    any = true;
    prospect.cost = cost;
    prospect.device = device;
  };
  for (std::size_t i = 0; i < available.sharedCount; ++i) {
    const auto before = available.shared.begin() + static_cast<std::ptrdiff_t>(i);
    // A device equal to an earlier one would have the same result.
    if (available.shared[i] >= task.perDevice &&
        std::find(available.shared.begin(), before, *before) == before)
      consider(i);
  }
  if (available.whole > 0) consider(DeviceCapacity::kFromWhole);
}

std::int64_t DeviceCluster::leftAfter(const DeviceCapacity& available, const TaskShape& task) const {
  // Both halves over their common denominator.
  return (available.cpu - task.cpu) * mostDevices_ +
         (available.deviceAmount() - task.deviceAmount()) * mostCpu_;
}

}  // namespace trainyard::replay
