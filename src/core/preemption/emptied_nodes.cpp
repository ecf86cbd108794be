#include "core/preemption/emptied_nodes.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "model/gang_size.h"

namespace trainyard::core {
namespace {

using Chosen = std::vector<std::size_t>;

// The role with the largest members, and their number.
struct Hardest {
  const model::Role* role = nullptr;
  std::int64_t members = 0;
};

Hardest hardestOf(const model::Job& job) {
  Hardest hardest;
  for (const model::Role& role : job.spec.roles) {
    const auto members = static_cast<std::int64_t>(model::gangMembers(job, role));
    if (members == 0) continue;
    const auto wants = [](const model::Role& each) {
      return std::tuple(each.shape.requests.gpus(), each.shape.requests.cpu.value);
    };
    if (hardest.role == nullptr || wants(role) > wants(*hardest.role)) hardest = {&role, members};
  }
  return hardest;
}

struct Emptied {
  std::size_t node = 0;
  std::int64_t fits = 0;
  std::int64_t cost = 0;
  Chosen victims = {};
};

class Emptying {
 public:
  Emptying(const model::Job& preemptor, const std::vector<Candidate>& candidates, const Chosen& together,
           const Ledger& ledger, NodeRefusals& refusals)
      : hardest_(hardestOf(preemptor)), candidates_(candidates), nodes_(ledger.nodes().size()) {
    if (hardest_.role == nullptr) return;
    std::vector<model::Resources> freed(nodes_.size());
    for (const std::size_t victim : together) {
      for (const auto& [node, amount] : candidates[victim].frees) {
        freed[node].add(amount);
        nodes_[node].victims.push_back(victim);
        nodes_[node].cost += candidates[victim].cost;
      }
    }
    NodeRefusals::Answers& known = refusals.of(hardest_.role->shape);
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      nodes_[node].node = node;
      const Ledger::NodeCapacity& capacity = ledger.nodes()[node];
      if (!known.mayUse(node, *capacity.node, hardest_.role->shape)) continue;
      model::Resources free = capacity.free;
      if (free.timesCovered(hardest_.role->shape.requests, hardest_.members) == hardest_.members)
        nodes_[node].victims.clear();
      const std::int64_t without = free.timesCovered(hardest_.role->shape.requests, hardest_.members);
      free.add(freed[node]);
      nodes_[node].fits = free.timesCovered(hardest_.role->shape.requests, hardest_.members);
      if (nodes_[node].fits == without) nodes_[node].victims.clear();
    }
  }

  // Empty if the domain has too few places even with all candidates gone.
  [[nodiscard]] std::pair<std::int64_t, Chosen> cheapestIn(const Domains& domains,
                                                           Domains::Range range) const {
    std::vector<const Emptied*> order;
    std::int64_t all = 0;
    for (std::uint32_t position = range.begin; position < range.end; ++position) {
      const Emptied& each = nodes_[domains.nodeAt(position)];
      all += each.fits;
      if (each.fits > 0) order.push_back(&each);
    }
    if (hardest_.role == nullptr || all < hardest_.members) return {0, {}};
    // The order is by victims per member, compared without division.
    std::stable_sort(order.begin(), order.end(), [](const Emptied* a, const Emptied* b) {
      const auto perMember = [](const Emptied& x, const Emptied& y) {
        return static_cast<std::int64_t>(x.victims.size()) * y.fits;
      };
      const std::int64_t left = perMember(*a, *b);
      const std::int64_t right = perMember(*b, *a);
      return left != right ? left < right : a->cost < b->cost;
    });
    std::set<std::size_t> victims;
    std::int64_t cost = 0;
    std::int64_t placed = 0;
    for (const Emptied* each : order) {
      if (placed >= hardest_.members) break;
      placed += each->fits;
      for (const std::size_t victim : each->victims) {
        if (victims.insert(victim).second) cost += candidates_[victim].cost;
      }
    }
    return {cost, Chosen(victims.begin(), victims.end())};
  }

 private:
  Hardest hardest_;
  const std::vector<Candidate>& candidates_;
  std::vector<Emptied> nodes_;
};

}  // namespace

std::vector<Chosen> cheapestNodes(const model::Job& preemptor, std::size_t widest,
                                  const std::vector<Candidate>& candidates, const Chosen& together,
                                  const Ledger& ledger, const Domains& domains, NodeRefusals& refusals) {
  const Emptying emptying(preemptor, candidates, together, ledger, refusals);
  const std::string& required = preemptor.spec.locality.required;
  const std::size_t bound = required.empty() ? 0 : domains.findLevel(required).value_or(0);
  std::vector<std::tuple<std::size_t, std::int64_t, std::size_t, Chosen>> found;
  const auto& ranges = domains.levels()[std::max(bound, std::min(widest, domains.nodeLevel()))].domains;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto [cost, victims] = emptying.cheapestIn(domains, ranges[i]);
    const std::size_t count = victims.size();
    if (count > 0) found.emplace_back(count, cost, i, std::move(victims));
  }
  const auto kept = std::min(kMaxDomains, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end());
  std::vector<Chosen> sets;
  for (std::size_t i = 0; i < kept; ++i) sets.push_back(std::move(std::get<3>(found[i])));
  return sets;
}

}  // namespace trainyard::core
