#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "model/job.h"
#include "model/shared_list.h"

namespace trainyard::core {

// How many of a node's free GPUs the cluster's jobs cannot use, and how a placement changes that, after Weng
// et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
// ATC 2023, section 3: the free GPUs of a node that a task of the job mix, drawn at random, cannot use. All
// amounts are integers; device amounts are thousandths of one device. Sums saturate.

inline constexpr std::int64_t kWholeDevice = 1000;

// What one task requests of a node.
struct TaskShape {
  std::int64_t cpu = 0;     // thousandths of a core
  std::int64_t memory = 0;  // in the unit of DeviceCapacity::memory
  std::int64_t devices = 0;
  std::int64_t perDevice = kWholeDevice;  // of each device; less than a whole one only if `devices` is 1
  std::uint64_t models = 0;               // acceptable kinds of device, one bit each; 0: any
  [[nodiscard]] std::int64_t deviceAmount() const { return devices * perDevice; }
  friend auto operator<=>(const TaskShape&, const TaskShape&) = default;
};

// The free capacity of a node.
struct DeviceCapacity {
  static constexpr std::size_t kMaxShared = 16;

  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::uint64_t model = 0;  // one bit
  std::int64_t whole = 0;   // completely free devices
  // The free part of devices in use, in no order; the first `sharedCount` are valid.
  std::array<std::int64_t, kMaxShared> shared = {};
  std::size_t sharedCount = 0;

  [[nodiscard]] std::int64_t deviceAmount() const;
  [[nodiscard]] bool fits(const TaskShape& task) const;
  // Requires that the task fits. A part of a device is taken from `shared[device]`, or
  // from a free device if `device` is kFromWhole.
  static constexpr std::size_t kFromWhole = kMaxShared;
  void take(const TaskShape& task, std::size_t device = kFromWhole);
};

// Kinds of tasks with their weights; each kind appears once.
class JobMix {
 public:
  struct Entry {
    TaskShape task;
    std::int64_t weight = 0;
  };

  // Tasks without devices are left out: they cannot use a free device, wherever it is.
  void add(const TaskShape& task, std::int64_t weight);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  std::vector<Entry> entries_;  // sorted by task
};

enum class FragmentMeasure {
  // As in the paper: a task cannot use devices with too little left, and none where it does not fit.
  kFirstTask,
  // Our variant. One task that fits may take the cpu or memory that all the other devices need. The task can
  // therefore use at most kFedCopies times what its copies, limited by cpu and memory, could use. The factor
  // exceeds 1 because other tasks of the mix need less cpu and memory per device.
  kFed,
};
// Chosen from 1, 2 and 4 on variations of one trace: docs/placement.md. All three are better than no limit.
inline constexpr std::int64_t kFedCopies = 2;

// Free device amount that a task of this shape cannot use.
[[nodiscard]] std::int64_t unusable(const DeviceCapacity& capacity, const TaskShape& task,
                                    FragmentMeasure measure);

// The sum of unusable() over the mix, each kind by its weight.
[[nodiscard]] std::int64_t fragmentation(const DeviceCapacity& capacity, const JobMix& mix,
                                         FragmentMeasure measure = FragmentMeasure::kFed);

// The members of all jobs that are not finished, by shape. The weight of a shape is its number of members.
// Only the kMixShapes shapes that request the most GPUs in total are kept.
inline constexpr std::size_t kMixShapes = 32;
[[nodiscard]] JobMix observedMix(const model::SharedList<model::Job>& jobs);

// observedMix() in steps: addMembers() adds a job's members (`sign` 1) or removes them (-1).
using MemberCounts = std::map<TaskShape, std::int64_t>;
void addMembers(const model::Job& job, int sign, MemberCounts& counts);
[[nodiscard]] JobMix heaviest(const MemberCounts& counts);

}  // namespace trainyard::core
