#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/order/time_slice.h"
#include "model/snapshot.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// How a job of so many GPUs is cut into members: as large as a node allows, all alike, on as few nodes as
// possible; or one GPU each, which may go anywhere.
struct GangShape {
  int members = 0;
  int gpusEach = 0;
  friend auto operator<=>(const GangShape&, const GangShape&) = default;
};
[[nodiscard]] GangShape tightShape(int gpus, int gpusOfLargestNode);

// The nodes as a snapshot, without anything else.
[[nodiscard]] model::Snapshot replaySnapshot(const std::vector<ReplayNode>& nodes);

// Members by node index.
using ReplayPlaces = std::vector<std::pair<std::uint32_t, int>>;

// The cluster of a replay: core::Ledger counts, core::place places.
class ReplayRoom {
 public:
  explicit ReplayRoom(const std::vector<ReplayNode>& nodes);
  ReplayRoom(const ReplayRoom&) = delete;
  ReplayRoom& operator=(const ReplayRoom&) = delete;

  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] std::int64_t free() const { return free_; }
  [[nodiscard]] int gpusOfLargestNode() const { return largest_; }
  // Whether an empty cluster of these nodes holds it.
  [[nodiscard]] bool everFits(GangShape shape);

  // Takes what it finds.
  [[nodiscard]] std::optional<ReplayPlaces> place(GangShape shape);
  void release(GangShape shape, const ReplayPlaces& places);

  // Begins a new division of the cluster: nothing is given to anybody, while all hold what they hold.
  void beginSlice();
  // Gives a running gang the places it has; false: they were given to another.
  [[nodiscard]] bool keep(GangShape shape, const ReplayPlaces& places);
  // Places a gang over those that were given nothing yet. What it takes may still be held by them.
  [[nodiscard]] std::optional<ReplayPlaces> placeOver(GangShape shape);
  // The same, without taking what it gives: that is for hold().
  [[nodiscard]] std::optional<ReplayPlaces> give(GangShape shape);
  void hold(GangShape shape, const ReplayPlaces& places) { take(held_, shape, places); }
  // As place(), and gives it.
  [[nodiscard]] std::optional<ReplayPlaces> placeFree(GangShape shape);

 private:
  [[nodiscard]] const model::Job& gang(GangShape shape);
  [[nodiscard]] std::optional<ReplayPlaces> find(GangShape shape, const core::Ledger& ledger);
  void take(core::Ledger& ledger, GangShape shape, const ReplayPlaces& places);

  model::Snapshot snapshot_;
  core::Ledger empty_;
  core::Ledger held_;
  core::Ledger given_;
  core::Domains domains_;
  std::map<GangShape, std::unique_ptr<const model::Job>> gangs_;
  std::int64_t capacity_ = 0;
  std::int64_t free_ = 0;
  int largest_ = 0;
};

}  // namespace trainyard::replay
