#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "core/schedule/elastic_start.h"
#include "core/schedule/gang_claims.h"
#include "core/schedule/pending_explainer.h"
#include "core/schedule/quota_placer.h"
#include "core/schedule/reservation_book.h"
#include "core/schedule/schedule_context.h"

namespace trainyard::core {

// Phases 5 to 7 for one pending job whose queue admits it: a placement in free capacity, else one for which
// other gangs give up capacity, else a reservation.
class PlacementStep {
 public:
  PlacementStep(ScheduleContext& context, PendingExplainer& explainer)
      : in_(context),
        explainer_(explainer),
        book_(context, explainer),
        placer_(context, book_),
        claims_(context, book_, placer_),
        elastic_(context, book_, placer_) {}

  struct Result {
    bool isStarted = false;
    bool isOutOfQuota = false;  // every placement exceeds a quota
  };
  // `isBehind`: the job is behind one that waits for their queue's limit. It then starts on idle capacity
  // alone.
  Result place(const PendingJob& pendingJob, bool isBehind);
  // For an elastic gang that exceeds its queue's quota at its desired size, but not at its minimum. It found
  // no placement with fewer members, so it waits for the placement of its minimum. Returns whether it was
  // started.
  bool placeMinimum(const PendingJob& pendingJob, const model::Job& minimum);
  // Returns whether an elastic gang was started with fewer members than desired.
  bool startSmaller(const PendingJob& pendingJob) { return elastic_.startSmaller(pendingJob); }
  // As above, but with all members that its queue is guaranteed, if other gangs give them up.
  bool startAsGuaranteed(const PendingJob& pendingJob);
  bool claim(const PendingJob& pendingJob, const GangShape& shape) {
    return claims_.claim(pendingJob, shape).isStarted;
  }
  bool claimBeforeLeaving(const PendingJob& pendingJob) {
    return claims_.claimBeforeLeaving(pendingJob, in_.shapeOf(pendingJob));
  }

  // The index of an equivalent job that found nothing, by PendingExplainer::lastUnplaced(). The job finds
  // nothing either, because no capacity was taken or given back since. Jobs are equivalent if they ask for
  // capacity alone, and share queue, priority and shape.
  [[nodiscard]] std::optional<std::size_t> equivalentUnplaced(const PendingJob& pendingJob);

  [[nodiscard]] ReservationBook& book() { return book_; }

 private:
  [[nodiscard]] std::optional<std::size_t> worthwhileWidening(const PendingJob& pendingJob,
                                                              const GangShape& shape);
  bool startOrHoldBack(const PendingJob& pendingJob, const GangShape& shape, Placement placement);
  bool equivalentWasHeldBack(const PendingJob& pendingJob, const GangShape& shape);
  void holdBack(const PendingJob& pendingJob, const GangShape& shape,
                const ReservationBook::Judgement& judgement);
  void reportHeldBack(const PendingJob& pendingJob, const GangShape& shape,
                      const FailedSearches::HeldBack& held);
  void reserve(const PendingJob& pendingJob, const GangShape& shape, const QuotaPlacement& found);
  [[nodiscard]] std::shared_ptr<const model::Pending> pendingOf(const PendingJob& pendingJob,
                                                                const QuotaPlacement& found);
  void noteEquivalentUnplaced(const PendingJob& pendingJob, const GangShape& shape, bool hadNoCandidate);

  ScheduleContext& in_;
  PendingExplainer& explainer_;
  ReservationBook book_;
  QuotaPlacer placer_;
  GangClaims claims_;
  ElasticStart elastic_;
};

}  // namespace trainyard::core
