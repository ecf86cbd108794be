#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/preemption/candidate.h"
#include "core/preemption/preemption_context.h"

namespace trainyard::core {

// The gangs that may have to give up capacity, as far as no preemptor matters. Listed for the first one that
// asks.
class RunningGangs {
 public:
  // Gangs that the rules on queue and priority treat alike: indices into preemptible(), in ascending order.
  using EquivalentGangs = std::vector<std::size_t>;

  explicit RunningGangs(const PreemptionContext& context) : in_(context) {}

  [[nodiscard]] bool any();
  // Cheapest first.
  [[nodiscard]] std::vector<Candidate>& preemptible();
  [[nodiscard]] const std::vector<LaterCandidate>& later();
  // Gangs that may shrink, in that order.
  [[nodiscard]] const std::vector<Candidate>& elastic();
  [[nodiscard]] const std::vector<EquivalentGangs>& equivalent();
  // Those of preemptible() that were backfilled on a condition.
  [[nodiscard]] const std::vector<std::size_t>& backfilled();
  // Those of preemptible() in this queue that time slicing may preempt.
  [[nodiscard]] const std::vector<std::size_t>& timeSlicedOf(QueueTree::Index queue);
  [[nodiscard]] bool anyTimeSliced();

  // Whether a running gang was backfilled on capacity that the job had reserved.
  [[nodiscard]] bool isHolder(const model::Job& job);
  // Placed gangs that may be preempted by now and that no claim has taken, cheapest first; `frees` is not
  // filled in.
  [[nodiscard]] std::vector<const Candidate*> preemptibleNow();
  [[nodiscard]] const QueuePosition& queuePositionOf(const Candidate& running);

  // The next time at which a gang becomes preemptible or a time slice ends.
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const { return wakeAt_; }

 private:
  using JobPtr = std::shared_ptr<const model::Job>;

  void list();
  void add(const JobPtr& job, int priority, std::optional<base::WallTime> placedSince);
  void addElastic(const JobPtr& job, int priority);
  void groupEquivalent();
  void wakeAt(std::optional<base::WallTime> time);

  const PreemptionContext& in_;
  bool listed_ = false;
  std::vector<Candidate> preemptible_;
  std::vector<LaterCandidate> later_;
  std::vector<Candidate> elastic_;
  std::vector<EquivalentGangs> equivalent_;
  std::vector<std::size_t> backfilled_;
  std::map<QueueTree::Index, std::vector<std::size_t>> timeSliced_;      // by queue
  std::unordered_map<const model::Job*, QueuePosition> queuePositions_;  // on demand
  std::optional<base::WallTime> wakeAt_;
};

// Whether the gang can give up its last members. What ended members held is free already and cannot be given
// again; a gang that restarts with another size claims it back.
[[nodiscard]] bool mayGiveMembers(const model::Job& job, const Ledger& ledger);

}  // namespace trainyard::core
