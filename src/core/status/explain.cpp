#include "core/status/explain.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "core/order/job_times.h"
#include "core/timeline/ends.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

// The CRD schema has 32 bits for these counts.
int narrowed(std::int64_t count) {
  return static_cast<int>(std::clamp<std::int64_t>(count, 0, std::numeric_limits<int>::max()));
}

// The end that a message may show: the owner's estimate until it is exceeded; a learnt end rounded to the
// minute, because it moves with every second; no guessed end.
std::optional<ExpectedTime> knownEnd(const model::Job& job, base::WallTime now, RunTimeModel& runs) {
  if (job.spec.estimatedDuration && job.status.gang.placed) {
    const base::WallTime stated = placedSince(job, now) + *job.spec.estimatedDuration;
    if (stated > now) return ExpectedTime{stated, Basis::kStated};
  }
  const ExpectedTime end = expectedEnd(job, now, runs);
  if (end.basis != Basis::kLearnt) return std::nullopt;
  return ExpectedTime{base::WallTime(std::chrono::ceil<std::chrono::minutes>(end.at.time_since_epoch())),
                      end.basis};
}

std::string untilText(const std::optional<ExpectedTime>& end) {
  if (!end) return "";
  return fmt::format(", until about {}{}", base::formatTime(end->at),
                     end->basis == Basis::kLearnt ? ", estimated from similar jobs" : "");
}

std::optional<ExpectedTime> knownEnd(const Blockers::Holder& holder, const Ledger& ledger, base::WallTime now,
                                     RunTimeModel& runs) {
  const auto job = ledger.jobOf(holder.uid);
  return job ? knownEnd(*job, now, runs) : std::nullopt;
}

// Example: "vision/bert (6 nodes, until about 2024-10-04T14:20:00Z), ml/gpt (1 node) and 3 pods of no
// TrainingJob, of which the first is ml/notebook (2 nodes)".
std::string describe(const Blockers& blockers, const Ledger& ledger, base::WallTime now, RunTimeModel& runs) {
  std::vector<std::string> words;
  for (const Blockers::Holder& each : blockers.jobs) {
    words.push_back(fmt::format("{} ({}{})", each.key, model::counted(each.nodes, "node"),
                                untilText(knownEnd(each, ledger, now, runs))));
  }
  if (blockers.moreJobs > 0) words.push_back(model::counted(blockers.moreJobs, "more job"));
  if (blockers.pods == 1) {
    words.push_back(fmt::format("pod {} ({})", blockers.firstPod, model::counted(blockers.podNodes, "node")));
  } else if (blockers.pods > 1) {
    words.push_back(fmt::format("{} pods of no TrainingJob, such as {} ({})", blockers.pods,
                                blockers.firstPod, model::counted(blockers.podNodes, "node")));
  }
  return model::joinList(words);
}

}  // namespace

model::Pending explainFailure(const PlacementFailure& failure, const Ledger& ledger, base::WallTime now,
                              RunTimeModel& runs) {
  model::Pending pending;
  pending.reason = failure.reason;
  pending.message = failure.message;
  pending.needs = failure.needs;
  pending.shortfall = failure.shortfall;
  addBlockers(failure.blockers, ledger, now, runs, pending);
  return pending;
}

void addBlockers(const Blockers& blockers, const Ledger& ledger, base::WallTime now, RunTimeModel& runs,
                 model::Pending& pending) {
  if (const std::string names = describe(blockers, ledger, now, runs); !names.empty())
    pending.message += fmt::format("; blocked by {}", names);
  for (const Blockers::Holder& each : blockers.jobs) {
    const auto end = knownEnd(each, ledger, now, runs);
    pending.blockedBy.push_back(
        {each.key, narrowed(each.nodes), narrowed(each.gpus), end ? std::optional(end->at) : std::nullopt});
  }
}

model::Pending explainPosition(const model::Job& head, const model::Pending& headPending) {
  model::Pending pending;
  pending.reason = model::PendingReason::kWaitingForTurn;
  // The head's own message already names the jobs that block it.
  pending.message = headPending.needs.empty()
                        ? fmt::format("behind {}: {}", head.key, headPending.message)
                        : fmt::format("behind {}, which {}", head.key, headPending.needs);
  pending.blockedBy = {{head.key}};
  return pending;
}

}  // namespace trainyard::core
