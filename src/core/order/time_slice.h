#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/order/order_policy.h"

namespace trainyard::core {

// A running job or a waiting one that asks for GPUs.
struct SliceCandidate {
  Rank rank;
  bool running = false;
  // Stays whatever its rank: not preemptible, or it ran too short a time to be stopped again.
  bool fixed = false;
  // Candidates of one shape ask for the same; where one finds no room, the next of its shape is not tried.
  std::uint32_t shape = 0;
};

// The cluster as a slice sees it: it begins with nothing given to anybody.
class SliceRoom {
 public:
  SliceRoom() = default;
  SliceRoom(const SliceRoom&) = delete;
  SliceRoom& operator=(const SliceRoom&) = delete;
  virtual ~SliceRoom() = default;

  // Gives a running candidate the places that it has. False: one of them was given to another.
  virtual bool keep(std::size_t candidate) = 0;
  // Gives a candidate that has no places such as nobody holds or was given. False: there are none.
  virtual bool placeFree(std::size_t candidate) = 0;
  // The same, with the places of running candidates that were not kept yet.
  virtual bool placeOver(std::size_t candidate) = 0;
  // The same, moving some of `given` (those that have places in this slice) as well: which ones. Empty: that
  // would not help either, or costs more than it gains.
  virtual std::optional<std::vector<std::size_t>> placeMoving(std::size_t candidate,
                                                              const std::vector<std::size_t>& given) = 0;
};

// Indices of candidates, each in the order of rank.
struct Slice {
  std::vector<std::size_t> stop;   // run, and are not to
  std::vector<std::size_t> move;   // run, and are to run elsewhere
  std::vector<std::size_t> start;  // wait, and are to run
};

// Who is to run until the next slice.
//
// Assumes: ranks favour those that run by what a stop costs, so that whoever comes before a running
// job gains more by its GPUs than the stop loses. Steps: 1 fixed candidates keep their places; 2 in the order
// of rank, each running one keeps its places if nobody before it was given them, each other one is given
// free places, or else those of running ones behind it, or else room is made for one that waits by moving
// those before it closer together. Nobody is stopped or moved but for one that is placed. A candidate that
// finds no room is passed over, not waited for. Ties: Rank::before.
[[nodiscard]] Slice timeSlice(const std::vector<SliceCandidate>& candidates, SliceRoom& room);

}  // namespace trainyard::core
