#include "core/search/joining_members.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace trainyard::core {
namespace {

// The first indices that no placed member of the role has. Only a Gang has gaps.
std::vector<int> unusedIndices(const model::Job& job, const model::Role& role, int count) {
  std::set<int> used;
  for (const model::Assignment& each : job.status.gang.placed->assignments) {
    if (each.role == role.name) used.insert(each.indices.values().begin(), each.indices.values().end());
  }
  std::vector<int> unused;
  for (int index = 0; static_cast<int>(unused.size()) < count; ++index) {
    if (!used.contains(index)) unused.push_back(index);
  }
  return unused;
}

class Joining {
 public:
  Joining(const model::Job& job, const model::Role& role, int count, const JoinLimits& home,
          const Ledger& ledger, const Domains& domains, NodeRefusals& refusals,
          std::vector<model::NodeName> closed)
      : ledger_(ledger), domains_(domains), home_(home), barred_(std::move(closed)) {
    request_.job = &job;
    request_.refusals = &refusals;
    request_.groups.push_back({&role, model::IndexSet(unusedIndices(job, role, count))});
    if (home.gpuType == nullptr) return;
    for (const Ledger::NodeCapacity& each : ledger.nodes()) {
      if (!home.hasType(*each.node)) barred_.push_back(each.node->name);
    }
  }

  std::optional<Placement> find() {
    for (std::size_t level = domains_.nodeLevel();; --level) {
      if (auto found = findWithin(level)) return found;
      if (level == home_.required || level == 0) return std::nullopt;
    }
  }

 private:
  std::optional<Placement> findWithin(std::size_t level) {
    const Domains::Range home = domains_.domainOf(level, domains_.positionOf(home_.anchor));
    std::vector<model::NodeName> outside = barred_;
    for (std::size_t position = 0; position < domains_.nodeCount(); ++position) {
      if (position < home.begin || position >= home.end)
        outside.push_back(ledger_.nodes()[domains_.nodeAt(position)].node->name);
    }
    const auto& backoff = request_.job->status.gang.backoff;
    return avoidingAsPossible(backoff ? backoff->avoidNodes : std::vector<model::NodeName>{},
                              [&](std::vector<model::NodeName> avoided) {
                                avoided.insert(avoided.end(), outside.begin(), outside.end());
                                request_.avoidNodes = std::move(avoided);
                                return findPlacement(request_, ledger_, domains_);
                              });
  }

  const Ledger& ledger_;
  const Domains& domains_;
  const JoinLimits& home_;
  PlaceRequest request_;
  std::vector<model::NodeName> barred_;
};

}  // namespace

std::optional<JoinLimits> joinLimitsOf(const model::Job& job, const model::Role& role,
                                       const std::string& gpuType, const Ledger& ledger,
                                       const Domains& domains) {
  if (!job.status.gang.placed) return std::nullopt;
  const std::string& level = job.spec.locality.required;
  const auto required = level.empty() ? std::optional<std::size_t>(0) : domains.findLevel(level);
  if (!required) return std::nullopt;
  for (const model::Assignment& each : job.status.gang.placed->assignments) {
    const auto anchor = ledger.find(each.node);
    if (!anchor) continue;
    JoinLimits home{.anchor = *anchor, .required = *required, .gpuTypeLabel = gpuType};
    if (!gpuType.empty() && role.shape.requests.gpus() > 0)
      home.gpuType = ledger.nodes()[*anchor].node->labels.find(gpuType);
    return home;
  }
  return std::nullopt;
}

bool JoinLimits::hasType(const model::Node& node) const {
  if (gpuType == nullptr) return true;
  const std::string* type = node.labels.find(gpuTypeLabel);
  return type != nullptr && *type == *gpuType;
}

std::optional<Placement> placeJoining(const model::Job& job, const model::Role& role, int count,
                                      const std::string& gpuType, const Ledger& ledger,
                                      const Domains& domains, NodeRefusals& refusals,
                                      std::vector<model::NodeName> closed) {
  const auto home = joinLimitsOf(job, role, gpuType, ledger, domains);
  if (!home) return std::nullopt;
  return Joining(job, role, count, *home, ledger, domains, refusals, std::move(closed)).find();
}

}  // namespace trainyard::core
