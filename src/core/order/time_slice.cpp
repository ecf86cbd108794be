#include "core/order/time_slice.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace trainyard::core {
namespace {

std::vector<std::size_t> orderOf(const std::vector<SliceCandidate>& candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool fixedA = candidates[a].running && candidates[a].fixed;
    const bool fixedB = candidates[b].running && candidates[b].fixed;
    return fixedA != fixedB ? fixedA : candidates[a].rank.before(candidates[b].rank);
  });
  return order;
}

class Slicer {
 public:
  Slicer(const std::vector<SliceCandidate>& candidates, SliceRoom& room)
      : candidates_(candidates), room_(room) {}

  Slice run() {
    for (const std::size_t each : orderOf(candidates_)) {
      const bool running = candidates_[each].running;
      if (running && room_.keep(each)) {
        given_.push_back(each);
      } else if (!hopeless_.contains(candidates_[each].shape) && place(each)) {
        given_.push_back(each);
        if (running) moved_.insert(each);
        if (!running) slice_.start.push_back(each);
      } else {
        hopeless_.insert(candidates_[each].shape);
        if (running) slice_.stop.push_back(each);
      }
    }
    for (const std::size_t each : given_) {
      if (moved_.contains(each)) slice_.move.push_back(each);
    }
    return std::move(slice_);
  }

 private:
  bool place(std::size_t candidate) {
    if (room_.placeFree(candidate) || room_.placeOver(candidate)) return true;
    // One that ran so far stands where it does by favour: nobody is moved for that.
    if (candidates_[candidate].running) return false;
    const auto moved = room_.placeMoving(candidate, given_);
    if (!moved) return false;
    for (const std::size_t each : *moved) {
      if (candidates_[each].running) moved_.insert(each);
    }
    return true;
  }

  const std::vector<SliceCandidate>& candidates_;
  SliceRoom& room_;
  std::vector<std::size_t> given_;
  std::set<std::size_t> moved_;       // running ones
  std::set<std::uint32_t> hopeless_;  // shapes
  Slice slice_;
};

}  // namespace

Slice timeSlice(const std::vector<SliceCandidate>& candidates, SliceRoom& room) {
  return Slicer(candidates, room).run();
}

}  // namespace trainyard::core
