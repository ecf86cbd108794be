#include "core/schedule/type_seekers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/place.h"
#include "core/planner.h"
#include "core/search.h"

namespace trainyard::core {
namespace {

using model::Job;

constexpr std::size_t kMaxSeekers = 64;
constexpr int kPermille = 1'000;

bool choosesItself(const Job& job, const std::string& label) {
  return std::any_of(job.spec.roles.begin(), job.spec.roles.end(), [&](const model::Role& role) {
    return role.shape.requests.gpus() > 0 && namesLabel(role.shape, label);
  });
}

std::map<std::string, int> worthOf(const Job& job) {
  const std::map<std::string, std::int64_t> speeds = typeSpeeds(*job.spec.plan.profile);
  std::int64_t most = 0;
  for (const auto& [type, speed] : speeds) most = std::max(most, speed);
  const bool planned = job.spec.plan.automatic && job.status.plan;
  const auto plannedType = planned ? speeds.find(job.status.plan->gpuType) : speeds.end();
  if (plannedType != speeds.end()) most = plannedType->second;
  std::map<std::string, int> worth;
  for (const auto& [type, speed] : speeds) {
    // The plan decided that types faster than the planned one are not worth their cost.
    const int mostHere =
        plannedType == speeds.end() || type == plannedType->first ? kPermille : kPermille - 1;
    worth[type] = static_cast<int>(std::min<std::int64_t>(speed * kPermille / most, mostHere));
  }
  return worth;
}

std::map<std::string, std::int64_t> freeByType(const Ledger& ledger, const std::string& label) {
  std::map<std::string, std::int64_t> free;
  for (const Ledger::NodeCapacity& capacity : ledger.nodes()) {
    const bool open = capacity.node->takesPods();
    const std::string* type = open && capacity.free.gpus() > 0 ? capacity.node->labels.find(label) : nullptr;
    if (type != nullptr) free[*type] += capacity.free.gpus();
  }
  return free;
}

bool isSeeker(const PendingJob& pendingJob) { return pendingJob.pendingFacts->knowsTypes; }

}  // namespace

bool knowsTypes(const Job& job) {
  const auto& profile = job.spec.plan.profile;
  return profile && (profile->speeds.size() > 1 || profile->measurements.size() > 1);
}

std::map<model::ObjectKey, std::string> typesForWaiting(const std::vector<PendingJob>& pendingJobs,
                                                        const model::Snapshot& snapshot, const Ledger& ledger,
                                                        const QueueTree& tree) {
  if (std::none_of(pendingJobs.begin(), pendingJobs.end(), isSeeker)) return {};
  const std::string& label = snapshot.policy.gpuTypeLabel;
  std::map<std::string, std::int64_t> free = freeByType(ledger, label);
  if (free.size() < 2) return {};
  std::vector<TypeSeeker> seekers;
  PendingOrder order(tree, pendingJobs);
  while (const PendingJob* each = order.next()) {
    if (seekers.size() == kMaxSeekers) break;
    const Job& job = *each->waiting->job;
    if (!isSeeker(*each) || choosesItself(job, label)) continue;
    const auto gpus = std::accumulate(
        each->demand.begin(), each->demand.begin() + static_cast<std::ptrdiff_t>(tree.dimensions().cpu()),
        std::int64_t{0});
    TypeSeeker seeker{job.key, each->priority, gpus, worthOf(job)};
    if (gpus > 0 && !seeker.worth.empty()) seekers.push_back(std::move(seeker));
  }
  return chooseTypes(seekers, std::move(free));
}

}  // namespace trainyard::core
