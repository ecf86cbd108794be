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

// Rooms that were offered to strangers and are not seen taken yet, at most one for each pod. Advisory: lost
// with the process, without harm. Time comes in as an argument.
class Holds {
 public:
  // Replaces what the pod held before.
  void put(const model::Uid& pod, Hold hold);
  void drop(const model::Uid& pod);
  // Drops what is due at `now`.
  void expire(base::Instant now);

  [[nodiscard]] std::size_t size() const { return byPod_.size(); }
  // nullptr when the pod holds nothing.
  [[nodiscard]] const Hold* find(const model::Uid& pod) const;
  // Everything held on that node; nullptr when nothing is.
  [[nodiscard]] const model::Resources* on(std::string_view node) const;

 private:
  struct NodeSum {
    model::Resources sum;
    int count = 0;
  };
  void subtract(const Hold& hold);

  std::unordered_map<model::Uid, Hold> byPod_;
  // Kept up to date with byPod_, since filter asks for every node and there may be thousands of holds.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, NodeSum, TextHash, std::equal_to<>> byNode_;
};

}  // namespace trainyard::core
