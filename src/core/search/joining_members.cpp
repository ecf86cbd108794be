#include "core/search/joining_members.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "model/gang_size.h"

namespace trainyard::core {
namespace {

class Joining {
 public:
  Joining(const model::Job& job, const model::Role& role, int count, const JoinLimits& home,
          const Ledger& ledger, const Domains& domains, NodeRefusals& refusals,
          std::vector<model::NodeName> closed)
      : ledger_(ledger), domains_(domains), home_(home), barred_(std::move(closed)) {
    request_.job = &job;
    request_.refusals = &refusals;
    std::vector<int> indices(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), model::gangMembers(job, role));
    request_.groups.push_back({&role, model::IndexSet(std::move(indices))});
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
