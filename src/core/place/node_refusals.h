#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/node.h"
#include "model/pod.h"
#include "model/shared_list.h"

namespace trainyard::core {

// Which nodes pods of which constraints may run on, room aside (nodeRefusal()), as far as anybody asked:
// thousands of placements ask it of the same nodes with the same few constraints. Assumes what CycleCache
// assumes.
class NodeRefusals {
 public:
  // Of one set of constraints, by the nodes' index in the list.
  class Answers {
   public:
    explicit Answers(std::size_t nodes) : known_(nodes, Known::kNo) {}
    // `shape` is of these constraints.
    [[nodiscard]] bool mayUse(std::size_t index, const model::Node& node, const model::PodShape& shape);
    void forget(std::size_t index) { known_[index] = Known::kNo; }

   private:
    enum class Known : char { kNo, kOpen, kRefuses };
    std::vector<Known> known_;
  };

  // Brings it up to the list: what is known of a node that changed does not hold.
  void follow(const model::SharedList<model::Node>& nodes);
  // Valid until it is called again.
  [[nodiscard]] Answers& of(const model::PodShape& shape);

 private:
  model::SharedList<model::Node> nodes_;
  std::unordered_map<std::string, Answers> byConstraints_;
};

}  // namespace trainyard::core
