#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/resources.h"

namespace trainyard::core {

struct Hold {
  model::NodeName node;
  model::Resources requests;
  base::Instant until{};
};

// Capacity that was offered to foreign pods and is not seen used yet, at most one hold per pod. Advisory:
// losing it with the process does no harm. Time comes in as an argument.
class Holds {
 public:
  // Replaces what the pod held before.
  void put(const model::Uid& pod, Hold hold);
  void drop(const model::Uid& pod);
  // Drops the holds that have expired at `now`.
  void expire(base::Instant now);

  [[nodiscard]] std::size_t size() const { return byPod_.size(); }
  // Returns nullptr if the pod holds nothing.
  [[nodiscard]] const Hold* find(const model::Uid& pod) const;
  // Returns the sum of all holds on the node; nullptr if there are none.
  [[nodiscard]] const model::Resources* on(std::string_view node) const;

 private:
  struct NodeSum {
    model::Resources sum;
    int count = 0;
  };
  void subtract(const Hold& hold);

  std::unordered_map<model::Uid, Hold> byPod_;
  // Updated together with byPod_: filter reads it for every node, and there may be thousands of holds.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, NodeSum, TextHash, std::equal_to<>> byNode_;
};

}  // namespace trainyard::core
