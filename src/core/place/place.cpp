#include "core/place/place.h"

#include <algorithm>
#include <optional>

#include "core/ledger/node_misfit.h"
#include "core/place/packer.h"
#include "core/place/placement_failure.h"
#include "core/place/problem.h"

namespace trainyard::core {
namespace {

std::optional<PackedDomain> search(const PlaceProblem& problem, std::size_t widest) {
  Packer packer(problem);
  for (std::size_t level = problem.domains().nodeLevel() + 1; level-- > widest;) {
    if (auto found = packer.packAtLevel(level)) return found;
  }
  return std::nullopt;
}

void assignGroup(const PlaceProblem& problem, const PlaceRequest::Group& group, const PackedDomain& found,
                 std::vector<std::int64_t>& left, std::vector<model::Assignment>& out) {
  const std::vector<int>& indices = group.indices.values();
  std::size_t next = 0;
  for (std::size_t offset = 0; offset < left.size() && next < indices.size(); ++offset) {
    const auto count = std::min(static_cast<std::size_t>(left[offset]), indices.size() - next);
    if (count == 0) continue;
    const auto first = indices.begin() + static_cast<std::ptrdiff_t>(next);
    out.push_back({problem.node(found.range.begin + offset).name, group.role->name,
                   model::IndexSet(std::vector<int>(first, first + static_cast<std::ptrdiff_t>(count)))});
    next += count;
    left[offset] -= static_cast<std::int64_t>(count);
  }
}

// Assigns indices in topology order; roles of one kind share its places in the order of the request.
Placement describe(const PlaceProblem& problem, PackedDomain found) {
  Placement placement;
  std::uint32_t first = found.range.end;
  std::uint32_t last = found.range.begin;
  for (const auto& counts : found.packing) {
    for (std::uint32_t offset = 0; offset < counts.size(); ++offset) {
      if (counts[offset] == 0) continue;
      first = std::min(first, found.range.begin + offset);
      last = std::max(last, found.range.begin + offset);
    }
  }
  for (std::size_t i = 0; i < problem.request().groups.size(); ++i) {
    for (std::size_t kind = 0; kind < problem.kinds().size(); ++kind) {
      const auto& groups = problem.kinds()[kind].groups;
      if (std::find(groups.begin(), groups.end(), i) == groups.end()) continue;
      assignGroup(problem, problem.request().groups[i], found, found.packing[kind], placement.assignments);
    }
  }
  // Several kinds may end up closer together than the domain that they were packed into.
  const Domains& domains = problem.domains();
  for (std::size_t level = domains.nodeLevel(); level > 0; --level) {
    if (domains.domainOf(level, first).end <= last) continue;
    placement.level = domains.levels()[level].name;
    placement.levelIndex = level;
    placement.domain = domains.path(level, first);
    break;
  }
  return placement;
}

}  // namespace

namespace {

// The widest levels for the gang: the one that the job requires, and the one permitted
// now. Empty if the cluster lacks the required level.
struct Bounds {
  std::size_t required = 0;
  std::size_t widest = 0;
};
std::optional<Bounds> boundsOf(const PlaceRequest& request, const Domains& domains) {
  const std::string& required = request.job->spec.locality.required;
  const auto bound = required.empty() ? std::optional<std::size_t>(0) : domains.findLevel(required);
  if (!bound) return std::nullopt;
  // The index may come from a topology with more levels: the node is the tightest level.
  return Bounds{*bound, std::max(*bound, std::min(request.widest, domains.nodeLevel()))};
}

}  // namespace

namespace {

// Whether `placement` uses a node that the template of any of its members prefers to avoid.
bool usesUnpreferred(const PlaceRequest& request, const Placement& placement, const Ledger& ledger) {
  return std::any_of(placement.assignments.begin(), placement.assignments.end(),
                     [&](const model::Assignment& each) {
                       const model::Role* role = request.job->spec.findRole(each.role);
                       const auto at = ledger.find(each.node);
                       return role != nullptr && at && prefersOthers(*ledger.nodes()[*at].node, role->shape);
                     });
}

std::vector<model::NodeName> unpreferredNodes(const PlaceRequest& request, const Ledger& ledger) {
  std::vector<model::NodeName> nodes;
  for (const Ledger::NodeCapacity& capacity : ledger.nodes()) {
    const bool unpreferred = std::any_of(
        request.groups.begin(), request.groups.end(),
        [&](const PlaceRequest::Group& group) { return prefersOthers(*capacity.node, group.role->shape); });
    if (unpreferred) nodes.push_back(capacity.node->name);
  }
  return nodes;
}

std::optional<Placement> findAnyPlacement(const PlaceRequest& request, const Ledger& ledger,
                                          const Domains& domains) {
  const PlaceProblem problem(request, ledger, domains, PlaceProblem::Capacity::kFree);
  if (problem.kinds().empty()) return Placement{};
  const auto bounds = boundsOf(request, domains);
  if (!bounds) return std::nullopt;
  auto found = search(problem, bounds->widest);
  if (!found) return std::nullopt;
  return describe(problem, std::move(*found));
}

}  // namespace

// In most clusters no preference applies, and one search suffices.
std::optional<Placement> findPlacement(const PlaceRequest& request, const Ledger& ledger,
                                       const Domains& domains) {
  auto any = findAnyPlacement(request, ledger, domains);
  if (!any || !usesUnpreferred(request, *any, ledger)) return any;
  const auto unpreferred = unpreferredNodes(request, ledger);
  if (unpreferred.size() == ledger.nodes().size()) return any;
  PlaceRequest preferring = request;
  auto preferred = avoidingAsPossible(unpreferred, [&](std::vector<model::NodeName> avoided) {
    preferring.avoidNodes = request.avoidNodes;
    preferring.avoidNodes.insert(preferring.avoidNodes.end(), avoided.begin(), avoided.end());
    return findAnyPlacement(preferring, ledger, domains);
  });
  return preferred && preferred->levelIndex >= any->levelIndex ? preferred : any;
}

std::optional<Placement> avoidingAsPossible(
    const std::vector<model::NodeName>& failed,
    const std::function<std::optional<Placement>(std::vector<model::NodeName>)>& find) {
  for (std::size_t left = failed.size();; left /= 2) {
    auto found = find({failed.end() - static_cast<std::ptrdiff_t>(left), failed.end()});
    if (found || left == 0) return found;
  }
}

std::variant<Placement, PlacementFailure> place(const PlaceRequest& request, const Ledger& ledger,
                                                const Domains& domains) {
  if (auto found = findPlacement(request, ledger, domains)) return std::move(*found);
  const auto bounds = boundsOf(request, domains);
  if (!bounds) return unknownLevel(request.job->spec.locality.required, domains);
  const PlaceProblem problem(request, ledger, domains, PlaceProblem::Capacity::kFree);
  PlacementFailure failure = explainNoPlacement(problem, bounds->widest, bounds->required);
  failure.blockers = findBlockers(failure.contested, failure.scarce, request.job->key, ledger);
  return failure;
}

bool fitsWhenEmpty(const PlaceRequest& request, const Ledger& ledger, const Domains& domains) {
  const PlaceProblem problem(request, ledger, domains, PlaceProblem::Capacity::kEmpty);
  if (problem.kinds().empty()) return true;
  const auto bounds = boundsOf(request, domains);
  return bounds && Packer(problem).holdsAtLevel(bounds->required);
}

std::variant<Placement, PlacementFailure> place(const PlaceRequest& request, const Ledger& ledger,
                                                const std::vector<model::TopologyLevel>& topology) {
  std::vector<const model::Node*> nodes;
  nodes.reserve(ledger.nodes().size());
  for (const Ledger::NodeCapacity& capacity : ledger.nodes()) nodes.push_back(capacity.node);
  return place(request, ledger, Domains(nodes, topology));
}

}  // namespace trainyard::core
