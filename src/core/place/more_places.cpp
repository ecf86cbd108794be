#include "core/place/more_places.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "model/gang_size.h"

namespace trainyard::core {
namespace {

const std::string* typeOf(const model::Node& node, const std::string& label) {
  return node.labels.find(label);
}

class Joining {
 public:
  Joining(const model::Job& job, const model::Role& role, int count, const std::string& gpuType,
          const Ledger& ledger, const Domains& domains)
      : ledger_(ledger), domains_(domains) {
    request_.job = &job;
    std::vector<int> indices(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), model::gangMembers(job, role));
    request_.groups.push_back({&role, model::IndexSet(std::move(indices))});
    const auto& places = job.status.gang.placed->assignments;
    for (const model::Assignment& each : places) {
      if (!anchor_) anchor_ = ledger.find(each.node);
    }
    if (anchor_ && !gpuType.empty() && role.shape.requests.gpus() > 0) keepToTypeOf(*anchor_, gpuType);
  }

  std::optional<Placement> find(std::size_t required) {
    if (!anchor_) return std::nullopt;
    for (std::size_t level = domains_.nodeLevel();; --level) {
      if (auto found = findWithin(level)) return found;
      if (level == required || level == 0) return std::nullopt;
    }
  }

 private:
  void keepToTypeOf(std::size_t node, const std::string& label) {
    const std::string* type = typeOf(*ledger_.nodes()[node].node, label);
    if (type == nullptr) return;
    for (const Ledger::NodeRoom& each : ledger_.nodes()) {
      const std::string* other = typeOf(*each.node, label);
      if (other == nullptr || *other != *type) barred_.push_back(each.node->name);
    }
  }

  std::optional<Placement> findWithin(std::size_t level) {
    const Domains::Range home = domains_.domainOf(level, domains_.positionOf(*anchor_));
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
                                return findPlaces(request_, ledger_, domains_);
                              });
  }

  const Ledger& ledger_;
  const Domains& domains_;
  PlaceRequest request_;
  std::optional<std::size_t> anchor_;  // the node of the gang's first member
  std::vector<model::NodeName> barred_;
};

}  // namespace

std::optional<Placement> placeMore(const model::Job& job, const model::Role& role, int count,
                                   const std::string& gpuType, const Ledger& ledger, const Domains& domains) {
  if (!job.status.gang.placed) return std::nullopt;
  const std::string& level = job.spec.locality.required;
  const auto required = level.empty() ? std::optional<std::size_t>(0) : domains.findLevel(level);
  if (!required) return std::nullopt;
  return Joining(job, role, count, gpuType, ledger, domains).find(*required);
}

}  // namespace trainyard::core
