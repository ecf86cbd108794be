#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/queues/quota_check.h"
#include "core/schedule/pending_order.h"
#include "core/schedule/schedule.h"
#include "core/search/gang_placer.h"
#include "core/timeline/ends.h"
#include "core/timeline/limit_starts.h"

namespace trainyard::core {

// Finds the reasons of jobs that wait for their queue's limit or guarantee, or behind such jobs. They name
// the jobs that hold the quota, and the expected starts. Part of one schedule(); decides nothing.
class LimitWaits {
 public:
  LimitWaits(const model::Snapshot& snapshot, Ledger& ledger, const QueueTree& tree, GangPlacer& placer,
             Ends& ends, RunTimeModel& runs)
      : snapshot_(snapshot), ledger_(ledger), tree_(tree), placer_(placer), ends_(ends), runs_(runs) {}

  using PendingPtr = std::shared_ptr<const model::Pending>;
  // `demand`: what the job waits for. The pending job outlives this object.
  [[nodiscard]] PendingPtr limitReached(const PendingJob& pendingJob, const Excess& beyond,
                                        const Amounts& demand);
  [[nodiscard]] PendingPtr guaranteeReached(const Excess& beyond);
  // Jobs that report `pending` wait until the pending job has started.
  void waitsBehind(const PendingJob& pendingJob, PendingPtr pending);
  // Called last: adds the expected starts.
  void addExpectedStarts(std::vector<GangWait>& waits);

 private:
  struct Head {
    const PendingJob* pendingJob = nullptr;
    Excess beyond = {};
    std::int64_t amount = 0;
  };
  using Limit = std::pair<QueueTree::Index, std::size_t>;  // with the dimension

  void addHolders(const Excess& beyond, model::Pending& pending);
  [[nodiscard]] std::optional<base::WallTime> startOf(const GangWait& wait);
  [[nodiscard]] std::optional<base::WallTime> nodesFreeAt(const PendingJob& pendingJob);
  [[nodiscard]] const QuotaHolders& quotaHolders();
  [[nodiscard]] LimitStarts& startsBelow(const Excess& beyond);

  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  const QueueTree& tree_;
  GangPlacer& placer_;
  Ends& ends_;
  RunTimeModel& runs_;
  std::map<std::size_t, Head> heads_;  // by position
  std::map<PendingPtr, std::size_t> behind_;
  std::optional<QuotaHolders> quotaHolders_;
  std::map<Limit, Blockers> holders_;
  std::map<Limit, LimitStarts> starts_;
  int searches_ = 0;
};

}  // namespace trainyard::core
