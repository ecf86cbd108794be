#include "core/place/fragmentation.h"

#include <algorithm>

#include "base/saturating.h"
#include "model/gang_size.h"

namespace trainyard::core {

using base::saturatingAdd;
using base::saturatingMultiply;

std::int64_t DeviceCapacity::deviceAmount() const {
  std::int64_t amount = saturatingMultiply(whole, kWholeDevice);
  for (std::size_t i = 0; i < sharedCount; ++i) amount = saturatingAdd(amount, shared[i]);
  return amount;
}

bool DeviceCapacity::fits(const TaskShape& task) const {
  if (cpu < task.cpu || memory < task.memory) return false;
  if (task.devices == 0) return true;
  if (task.models != 0 && (task.models & model) == 0) return false;
  if (whole >= task.devices) return true;
  if (task.perDevice >= kWholeDevice) return false;
  const auto end = shared.begin() + static_cast<std::ptrdiff_t>(sharedCount);
  const auto enough =
      std::count_if(shared.begin(), end, [&](std::int64_t left) { return left >= task.perDevice; });
  return whole + enough >= task.devices;
}

void DeviceCapacity::take(const TaskShape& task, std::size_t device) {
  cpu -= task.cpu;
  memory -= task.memory;
  if (task.devices == 0) return;
  if (task.perDevice >= kWholeDevice) {
    whole -= task.devices;
  } else if (device != kFromWhole) {
    shared[device] -= task.perDevice;
  } else {
    --whole;
    shared[sharedCount++] = kWholeDevice - task.perDevice;
  }
}

void JobMix::add(const TaskShape& task, std::int64_t weight) {
  if (task.devices == 0 || weight <= 0) return;
  const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), task,
                       [](const Entry& entry, const TaskShape& wanted) { return entry.task < wanted; });
  if (at != entries_.end() && at->task == task) {
    at->weight = saturatingAdd(at->weight, weight);
    return;
  }
  entries_.insert(at, {task, weight});
}

std::int64_t unusable(const DeviceCapacity& capacity, const TaskShape& task, FragmentMeasure measure) {
  const std::int64_t all = capacity.deviceAmount();
  if (!capacity.fits(task)) return all;
  std::int64_t narrow = 0;
  for (std::size_t i = 0; i < capacity.sharedCount; ++i) {
    if (capacity.shared[i] < task.perDevice) narrow += capacity.shared[i];
  }
  if (measure == FragmentMeasure::kFirstTask) return narrow;
  std::int64_t copies = all;
  if (task.cpu > 0) copies = std::min(copies, capacity.cpu / task.cpu);
  if (task.memory > 0) copies = std::min(copies, capacity.memory / task.memory);
  const std::int64_t fed = saturatingMultiply(saturatingMultiply(copies, kFedCopies), task.deviceAmount());
  return all - std::min(all - narrow, fed);
}

std::int64_t fragmentation(const DeviceCapacity& capacity, const JobMix& mix, FragmentMeasure measure) {
  std::int64_t total = 0;
  for (const JobMix::Entry& entry : mix.entries()) {
    total = saturatingAdd(total, saturatingMultiply(entry.weight, unusable(capacity, entry.task, measure)));
  }
  return total;
}

JobMix observedMix(const model::SharedList<model::Job>& jobs) {
  MemberCounts counts;
  for (const auto& job : jobs) addMembers(*job, 1, counts);
  return heaviest(counts);
}

void addMembers(const model::Job& job, int sign, MemberCounts& counts) {
  if (job.finished()) return;
  for (const model::Role& role : job.spec.roles) {
    const model::Resources& requests = role.shape.requests;
    const TaskShape task{requests.cpu.value, requests.memory.value, requests.gpus(), kWholeDevice, 0};
    if (task.devices <= 0) continue;
    const auto at = counts.try_emplace(task, 0).first;
    at->second += std::int64_t{sign} * model::gangMembers(job, role);
    if (at->second == 0) counts.erase(at);
  }
}

JobMix heaviest(const MemberCounts& counts) {
  JobMix all;
  for (const auto& [task, count] : counts) all.add(task, count);
  if (all.entries().size() <= kMixShapes) return all;
  std::vector<JobMix::Entry> sorted = all.entries();
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return saturatingMultiply(a.weight, a.task.devices) > saturatingMultiply(b.weight, b.task.devices);
  });
  JobMix mix;
  for (std::size_t i = 0; i < kMixShapes; ++i) mix.add(sorted[i].task, sorted[i].weight);
  return mix;
}

}  // namespace trainyard::core
