#include "replay/engine/room.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include "core/place/place.h"
#include "model/names.h"

namespace trainyard::replay {
namespace {

const model::Resources& requestsOf(const model::Job& job) { return job.spec.roles.front().shape.requests; }

}  // namespace

model::Snapshot replaySnapshot(const std::vector<ReplayNode>& nodes) {
  model::Snapshot snapshot;
  model::SharedList<model::Node>::Items items;
  for (const ReplayNode& each : nodes) {
    auto node = std::make_shared<model::Node>();
    node->name = model::NodeName(each.name);
    node->uid = model::Uid(each.name);
    node->ready = true;
    node->allocatable.pods = each.gpus;
    node->allocatable.setExtended(model::names::kGpuResource, each.gpus);
    items.push_back(std::move(node));
  }
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  snapshot.nodes = model::SharedList<model::Node>(std::move(items));
  return snapshot;
}

GangShape tightShape(int gpus, int gpusOfLargestNode) {
  int each = std::min(gpus, gpusOfLargestNode);
  while (gpus % each != 0) --each;
  return {gpus / each, each};
}

ReplayRoom::ReplayRoom(const std::vector<ReplayNode>& nodes)
    : snapshot_(replaySnapshot(nodes)),
      empty_(snapshot_),
      held_(empty_),
      given_(empty_),
      domains_(snapshot_.nodes, {{"node", std::string(model::names::kHostnameLabel)}}) {
  for (const ReplayNode& node : nodes) {
    capacity_ += node.gpus;
    largest_ = std::max(largest_, node.gpus);
  }
  free_ = capacity_;
}

bool ReplayRoom::everFits(GangShape shape) { return find(shape, empty_).has_value(); }

std::optional<ReplayPlaces> ReplayRoom::place(GangShape shape) {
  // Most of those that ask find nothing: that must cost nothing.
  if (std::int64_t{shape.members} * shape.gpusEach > free_) return std::nullopt;
  auto places = find(shape, held_);
  if (places) take(held_, shape, *places);
  return places;
}

void ReplayRoom::release(GangShape shape, const ReplayPlaces& places) {
  for (const auto& [node, members] : places) held_.giveBack(node, requestsOf(gang(shape)), members);
  free_ += std::int64_t{shape.members} * shape.gpusEach;
}

void ReplayRoom::beginSlice() { given_ = empty_; }

bool ReplayRoom::keep(GangShape shape, const ReplayPlaces& places) {
  const model::Resources& requests = requestsOf(gang(shape));
  const bool fits = std::all_of(places.begin(), places.end(), [&](const auto& each) {
    return given_.nodes()[each.first].free.timesCovered(requests, each.second) >= each.second;
  });
  if (fits) take(given_, shape, places);
  return fits;
}

std::optional<ReplayPlaces> ReplayRoom::placeFree(GangShape shape) {
  auto places = place(shape);
  if (places) take(given_, shape, *places);
  return places;
}

std::optional<ReplayPlaces> ReplayRoom::placeOver(GangShape shape) {
  auto places = give(shape);
  if (places) take(held_, shape, *places);
  return places;
}

std::optional<ReplayPlaces> ReplayRoom::give(GangShape shape) {
  auto places = find(shape, given_);
  if (places) take(given_, shape, *places);
  return places;
}

const model::Job& ReplayRoom::gang(GangShape shape) {
  auto& known = gangs_[shape];
  if (!known) {
    auto job = std::make_unique<model::Job>();
    model::Role role{.name = "worker", .replicas = shape.members, .shape = {}, .templateJson = {}};
    role.shape.requests.pods = 1;
    role.shape.requests.setExtended(model::names::kGpuResource, shape.gpusEach);
    job->spec.roles.push_back(std::move(role));
    known = std::move(job);
  }
  return *known;
}

std::optional<ReplayPlaces> ReplayRoom::find(GangShape shape, const core::Ledger& ledger) {
  const model::Job& job = gang(shape);
  std::vector<int> indices(static_cast<std::size_t>(shape.members));
  std::iota(indices.begin(), indices.end(), 0);
  const core::PlaceRequest request{.job = &job,
                                   .groups = {{&job.spec.roles.front(), model::IndexSet(std::move(indices))}},
                                   .avoidNodes = {}};
  const auto outcome = core::place(request, ledger, domains_);
  const auto* placement = std::get_if<core::Placement>(&outcome);
  if (placement == nullptr) return std::nullopt;
  ReplayPlaces places;
  for (const model::Assignment& each : placement->assignments) {
    places.emplace_back(static_cast<std::uint32_t>(ledger.find(each.node).value()),
                        static_cast<int>(each.indices.size()));
  }
  return places;
}

void ReplayRoom::take(core::Ledger& ledger, GangShape shape, const ReplayPlaces& places) {
  for (const auto& [node, members] : places) ledger.take(node, requestsOf(gang(shape)), members);
  if (&ledger == &held_) free_ -= std::int64_t{shape.members} * shape.gpusEach;
}

}  // namespace trainyard::replay
