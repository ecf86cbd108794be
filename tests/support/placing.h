#pragma once

#include <numeric>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/place/place.h"
#include "model/gang_size.h"
#include "support/builders.h"

// Placement of whole gangs in tests, with the outcome as one line of text.
namespace trainyard::test {

[[nodiscard]] inline core::PlaceRequest wholeGang(const model::Job& job) {
  core::PlaceRequest request;
  request.job = &job;
  for (const model::Role& role : job.spec.roles) {
    std::vector<int> indices(static_cast<std::size_t>(model::gangMembers(job, role)));
    std::iota(indices.begin(), indices.end(), 0);
    if (!indices.empty()) request.groups.push_back({&role, model::IndexSet(std::move(indices))});
  }
  return request;
}

[[nodiscard]] inline std::variant<core::Placement, core::PlacementFailure> placeIn(
    const model::Snapshot& snapshot, std::string_view namespaceAndName) {
  const core::Ledger ledger(snapshot);
  return core::place(wholeGang(jobIn(snapshot, namespaceAndName)), ledger, snapshot.policy.topology);
}

// The default levels, with two domains of each level in each domain of the next wider one.
[[nodiscard]] inline core::Domains binaryDomains() {
  std::vector<model::Node> nodes;
  for (int i = 0; i < 16; ++i) {
    nodes.push_back(node(fmt::format("n{:02}", i))
                        .zone(fmt::format("z{}", i / 8))
                        .block(fmt::format("b{}", i / 4))
                        .rack(fmt::format("r{}", i / 2)));
  }
  std::vector<const model::Node*> pointers;
  for (const model::Node& each : nodes) pointers.push_back(&each);
  return {pointers, model::defaultTopologyLevels()};
}

// Formats "n1:worker:0-1 n2:worker:2 n1:ps:0".
[[nodiscard]] inline std::string assignmentsText(const std::vector<model::Assignment>& assignments) {
  std::string text;
  for (const model::Assignment& assignment : assignments) {
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : " ", assignment.node, assignment.role,
                        assignment.indices.str());
  }
  return text;
}

// Formats "rack z/r1: n1:worker:0-1 …", or "REASON: message".
[[nodiscard]] inline std::string outcomeText(
    const std::variant<core::Placement, core::PlacementFailure>& outcome) {
  if (const auto* misfit = std::get_if<core::PlacementFailure>(&outcome)) {
    return fmt::format("{}: {}", model::toString(misfit->reason), misfit->message);
  }
  const auto& placement = std::get<core::Placement>(outcome);
  const std::string where =
      placement.level.empty() ? "cluster" : fmt::format("{} {}", placement.level, placement.domain);
  return fmt::format("{}: {}", where, assignmentsText(placement.assignments));
}

[[nodiscard]] inline std::string outcomeIn(const model::Snapshot& snapshot,
                                           std::string_view namespaceAndName) {
  return outcomeText(placeIn(snapshot, namespaceAndName));
}

}  // namespace trainyard::test
