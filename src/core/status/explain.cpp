#include "core/status/explain.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "core/order/job_times.h"
#include "core/timeline/ends.h"
#include "model/words.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kNamedBlockers = 3;

std::int64_t amountByName(const model::Resources& amount, std::string_view resource) {
  if (resource == "cpu") return amount.cpu.value;
  if (resource == "memory") return amount.memory.value;
  if (resource == "ephemeral-storage") return amount.ephemeralStorage.value;
  if (resource == "pods") return amount.pods;
  return amount.extended(resource);
}

// What one holder has in the contested domain.
struct Share {
  std::int64_t amount = 0;  // of the scarce resource
  std::int64_t gpus = 0;
  std::int64_t nodes = 0;
  std::int64_t pods = 0;
  std::uint32_t lastNode = UINT32_MAX;

  void add(std::int64_t more, std::int64_t moreGpus, std::uint32_t node) {
    amount += more;
    gpus += moreGpus;
    if (node != lastNode) ++nodes;
    lastNode = node;
    ++pods;
  }
};

struct Blockers {
  std::vector<std::pair<const model::Job*, Share>> jobs;  // most first, as far as they are named
  Share strangers;                                        // pods of no TrainingJob
  model::ObjectKey firstStranger;
};

Blockers findBlockers(const model::Job& job, const PlacementFailure& failure, const Ledger& ledger) {
  std::unordered_map<const model::Job*, Share> shares;
  Blockers blockers;
  for (const std::uint32_t node : failure.contested) {
    ledger.forEachHolding(node, [&](const Ledger::Holding& holding) {
      const std::int64_t amount = amountByName(holding.amount, failure.scarce);
      if (amount <= 0) return;
      if (holding.job != nullptr) {
        if (holding.job->key != job.key) shares[holding.job].add(amount, holding.amount.gpus(), node);
        return;
      }
      // Every node has its DaemonSets: they are part of the node, not in the way.
      if (holding.pod == nullptr || holding.pod->controllerKind == "DaemonSet") return;
      if (blockers.strangers.pods == 0) blockers.firstStranger = holding.pod->key;
      blockers.strangers.add(amount, holding.amount.gpus(), node);
    });
  }
  for (const auto& [holder, share] : shares) blockers.jobs.emplace_back(holder, share);
  const auto named = std::min(kNamedBlockers, blockers.jobs.size());
  std::partial_sort(blockers.jobs.begin(), blockers.jobs.begin() + static_cast<std::ptrdiff_t>(named),
                    blockers.jobs.end(), [](const auto& a, const auto& b) {
                      return a.second.amount != b.second.amount ? a.second.amount > b.second.amount
                                                                : a.first->key < b.first->key;
                    });
  return blockers;
}

// What is told of an end: the owner's word as it is, be that over already; what others of the kind took to
// the minute, as it moves with every second; nothing of a guess.
std::optional<ExpectedTime> toldEnd(const model::Job& job, base::WallTime now, RunTimeModel& runs) {
  if (job.spec.estimatedDuration && job.status.gang.placed)
    return ExpectedTime{placedSince(job, now) + *job.spec.estimatedDuration, Basis::kStated};
  const ExpectedTime end = expectedEnd(job, now, runs);
  if (end.basis != Basis::kLearnt) return std::nullopt;
  return ExpectedTime{base::WallTime(std::chrono::ceil<std::chrono::minutes>(end.at.time_since_epoch())),
                      end.basis};
}

std::string untilWords(const std::optional<ExpectedTime>& end) {
  if (!end) return "";
  return fmt::format(", until about {}{}", base::formatTime(end->at),
                     end->basis == Basis::kLearnt ? ", as others of its kind" : "");
}

// "vision/bert (6 nodes, until about 2024-10-04T14:20:00Z), ml/gpt (1 node) and 3 pods of no TrainingJob (2
// nodes)"
std::string describe(const Blockers& blockers, base::WallTime now, RunTimeModel& runs) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kNamedBlockers, blockers.jobs.size()); ++i) {
    const auto& [holder, share] = blockers.jobs[i];
    words.push_back(fmt::format("{} ({}{})", holder->key, model::counted(share.nodes, "node"),
                                untilWords(toldEnd(*holder, now, runs))));
  }
  if (blockers.jobs.size() > kNamedBlockers) {
    const auto others = static_cast<std::int64_t>(blockers.jobs.size() - kNamedBlockers);
    words.push_back(model::counted(others, "more job"));
  }
  const Share& strangers = blockers.strangers;
  if (strangers.pods == 1) {
    words.push_back(
        fmt::format("pod {} ({})", blockers.firstStranger, model::counted(strangers.nodes, "node")));
  } else if (strangers.pods > 1) {
    words.push_back(fmt::format("{} pods of no TrainingJob ({})", strangers.pods,
                                model::counted(strangers.nodes, "node")));
  }
  return model::joinWords(words);
}

}  // namespace

model::Pending explainFailure(const model::Job& job, const PlacementFailure& failure, const Ledger& ledger,
                              base::WallTime now, RunTimeModel& runs) {
  model::Pending pending;
  pending.reason = failure.reason;
  pending.message = failure.message;
  pending.needs = failure.needs;
  pending.shortfall = failure.shortfall;
  const Blockers blockers = findBlockers(job, failure, ledger);
  if (const std::string names = describe(blockers, now, runs); !names.empty()) {
    pending.message += fmt::format("; blocked by {}", names);
  }
  for (std::size_t i = 0; i < std::min(kNamedBlockers, blockers.jobs.size()); ++i) {
    const auto& [holder, share] = blockers.jobs[i];
    const auto end = toldEnd(*holder, now, runs);
    pending.blockedBy.push_back({holder->key, static_cast<int>(share.nodes), static_cast<int>(share.gpus),
                                 end ? std::optional(end->at) : std::nullopt});
  }
  return pending;
}

model::Pending explainTurn(const model::Job& head, const model::Pending& headPending) {
  model::Pending pending;
  pending.reason = model::PendingReason::kWaitingForTurn;
  // Who blocks the head is its own story.
  pending.message = headPending.needs.empty()
                        ? fmt::format("behind {}: {}", head.key, headPending.message)
                        : fmt::format("behind {}, which {}", head.key, headPending.needs);
  pending.blockedBy = {{head.key}};
  return pending;
}

}  // namespace trainyard::core
