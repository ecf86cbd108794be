#include "core/place/problem.h"

#include <algorithm>
#include <tuple>

#include "core/ledger/node_misfit.h"
#include "core/place/node_refusals.h"
#include "model/gpu_resources.h"
#include "model/names.h"
#include "model/one_per_node.h"
#include "model/process_group.h"

namespace trainyard::core {
namespace {

using model::Resources;

static_assert(std::get<PlaceProblem::kCpu>(model::kNativeResources).name == "cpu");
static_assert(std::get<PlaceProblem::kMemory>(model::kNativeResources).name == "memory");

void readFixed(const Resources& amount, std::int64_t* out) {
  model::forEachNative([&](const auto& native) { *out++ = native.in(amount); });
}

void readAmounts(const Resources& amount, const std::vector<std::string>& dimensions, std::int64_t* out) {
  readFixed(amount, out);
  // Both lists are sorted by name.
  auto have = amount.extendedAll().begin();
  const auto end = amount.extendedAll().end();
  for (std::size_t i = PlaceProblem::kFixedDimensions; i < dimensions.size(); ++i) {
    while (have != end && have->first < dimensions[i]) ++have;
    out[i] = have != end && have->first == dimensions[i] ? have->second : 0;
  }
}

// Reads what nodes offer. Resources that only one pod per node may use are implicit, so the reader adds them.
class OfferedReader {
 public:
  explicit OfferedReader(const std::vector<std::string>& dimensions) : dimensions_(dimensions) {
    for (std::size_t i = PlaceProblem::kFixedDimensions; i < dimensions.size(); ++i) {
      if (model::isOnePerNode(dimensions[i])) oneANode_.push_back(i);
    }
    // Usually the gang requests one extended resource, and that is the only GPU resource.
    onlyGpus_ = dimensions.size() == PlaceProblem::kFixedDimensions + 1 &&
                model::gpuResources().size() == 1 && dimensions.back() == model::gpuResources().front();
  }

  // `gpus`: the number of GPUs in `amount`.
  void read(const Resources& amount, std::int64_t gpus, std::int64_t* out) const {
    if (onlyGpus_) {
      readFixed(amount, out);
      out[PlaceProblem::kFixedDimensions] = gpus;
      return;
    }
    readAmounts(amount, dimensions_, out);
    for (const std::size_t i : oneANode_) ++out[i];
  }

 private:
  const std::vector<std::string>& dimensions_;
  std::vector<std::size_t> oneANode_;
  bool onlyGpus_ = false;
};

bool harder(const Resources& a, const Resources& b) {
  if (a.gpus() != b.gpus()) return a.gpus() > b.gpus();
  if (a.extendedAll() != b.extendedAll()) return a.extendedAll() > b.extendedAll();
  if (a.cpu != b.cpu) return a.cpu > b.cpu;
  return a.memory > b.memory;
}

}  // namespace

PlaceProblem::PlaceProblem(const PlaceRequest& request, const Ledger& ledger, const Domains& domains,
                           Capacity capacity)
    : request_(&request), ledger_(&ledger), domains_(&domains) {
  groupKinds();
  const auto mark = [&](const std::vector<model::NodeName>& names, std::vector<char>& marked) {
    marked.resize(domains.nodeCount(), 0);
    for (const model::NodeName& name : names) {
      if (const auto node = ledger.find(name)) marked[domains.positionOf(*node)] = 1;
    }
  };
  mark(request.avoidNodes, avoided_);
  mark(request.beyondQuota.ofAll, avoided_);
  mark(request.beyondQuota.ofWithoutGpus, avoidedWithoutGpus_);
  mark({}, closed_);
  if (request.closed != nullptr) mark(*request.closed, closed_);
  readCapacity(capacity);
  readFits(capacity);
}

void PlaceProblem::groupKinds() {
  for (std::size_t i = 0; i < request_->groups.size(); ++i) {
    const auto& group = request_->groups[i];
    if (group.indices.size() == 0) continue;
    auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                             [&](const Kind& known) { return *known.shape == group.role->shape; });
    if (kind == kinds_.end()) {
      kinds_.push_back({});
      kind = std::prev(kinds_.end());
      kind->shape = &group.role->shape;
      kind->wantsGpus = group.role->shape.requests.gpus() > 0;
      kind->sendsParameters = true;
    }
    kind->sendsParameters = kind->sendsParameters && model::sendsParameters(group.role->name);
    kind->groups.push_back(i);
    kind->count += static_cast<std::int64_t>(group.indices.size());
  }
  std::stable_sort(kinds_.begin(), kinds_.end(),
                   [](const Kind& a, const Kind& b) { return harder(a.shape->requests, b.shape->requests); });

  model::forEachNative([&](const auto& native) { dimensions_.emplace_back(native.name); });
  for (const Kind& kind : kinds_) {
    for (const auto& [name, amount] : kind.shape->requests.extendedAll()) dimensions_.push_back(name);
  }
  std::sort(dimensions_.begin() + kFixedDimensions, dimensions_.end());
  dimensions_.erase(std::unique(dimensions_.begin() + kFixedDimensions, dimensions_.end()),
                    dimensions_.end());
  for (Kind& kind : kinds_) {
    kind.demand.resize(dimensions_.size());
    readAmounts(kind.shape->requests, dimensions_, kind.demand.data());
  }
}

void PlaceProblem::readCapacity(Capacity capacity) {
  const bool wantsGpus =
      std::any_of(kinds_.begin(), kinds_.end(), [](const Kind& kind) { return kind.wantsGpus; });
  capacity_.resize(domains_->nodeCount() * dimensions_.size());
  busyness_.resize(domains_->nodeCount());
  const OfferedReader reader(dimensions_);
  Resources withoutJobs;
  for (std::size_t position = 0; position < domains_->nodeCount(); ++position) {
    const std::size_t node = domains_->nodeAt(position);
    const Ledger::NodeCapacity& entry = ledger_->nodes()[node];
    const Resources& all = entry.node->allocatable;
    const Resources& amount = capacity == Capacity::kFree    ? entry.free
                              : capacity == Capacity::kEmpty ? all
                                                             : ledger_->freeWithoutJobs(node, withoutJobs);
    const std::int64_t gpus = capacity == Capacity::kFree ? entry.freeGpus
                              : &amount == &all           ? entry.gpus
                                                          : amount.gpus();
    reader.read(amount, gpus, capacity_.data() + position * dimensions_.size());
    // No gang can use capacity on a closed node: it does not make its rack emptier. (Not takesPods(): a node
    // that is being deleted counts as before the deletion, until it is gone.)
    if (!entry.node->ready || entry.node->unschedulable) continue;
    const std::int64_t freeGpus = std::max<std::int64_t>(0, gpus);
    busyness_[position].freeGpus = freeGpus;
    busyness_[position].second =
        wantsGpus ? freeGpus - entry.gpus : std::max<std::int64_t>(0, amount.cpu.value);
  }
}

void PlaceProblem::readFits(Capacity capacity) {
  for (Kind& kind : kinds_) {
    kind.open.assign(domains_->nodeCount(), 0);
    kind.fits.assign(domains_->nodeCount(), 0);
    const bool requestsGpus = kind.shape->requests.gpus() > 0;
    const NodeOpenness openness(*request_, *kind.shape);
    for (std::size_t position = 0; position < domains_->nodeCount(); ++position) {
      // Capacity first: it costs a few divisions, the constraints cost string comparisons.
      const std::int64_t fits = timesCovered(kind, capacityAt(position), kind.count);
      if (fits == 0) continue;
      const bool avoids = avoided_[position] != 0 || (!requestsGpus && avoidedWithoutGpus_[position] != 0);
      const bool left = capacity == Capacity::kFree && avoids;
      if (left || closed_[position] != 0) continue;
      const std::size_t index = domains_->nodeAt(position);
      const bool open = capacity == Capacity::kEmpty ? openness.mayBecomeOpen(index, node(position))
                                                     : openness.mayUse(index, node(position));
      if (!open) continue;
      kind.open[position] = 1;
      kind.fits[position] = fits;
    }
  }
}

std::int64_t PlaceProblem::timesCovered(const Kind& kind, const std::int64_t* capacity,
                                        std::int64_t limit) const {
  std::int64_t count = limit;
  // Extended resources first: on a busy cluster they yield 0 at once.
  for (std::size_t i = kind.demand.size(); i-- > 0 && count > 0;) {
    const std::int64_t want = kind.demand[i];
    if (want <= 0) continue;
    const std::int64_t have = capacity[i];
    count = have < want ? 0 : std::min(count, have / want);
  }
  return count;
}

}  // namespace trainyard::core
