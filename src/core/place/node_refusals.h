#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/node.h"
#include "model/pod.h"
#include "model/shared_list.h"

namespace trainyard::core {

struct PlaceRequest;

// Which nodes pods of which constraints may run on, room aside (nodeRefusal()), and which they might once
// those are well (templateMatches()), as far as anybody asked: thousands of placements ask it of the same
// nodes with the same few constraints. Assumes what CycleCache assumes.
class NodeRefusals {
 public:
  // Of one set of constraints, by the nodes' index in the list.
  class Answers {
   public:
    Answers(std::size_t nodes, const model::PodShape& shape, std::int64_t& work);
    // `shape` is of these constraints.
    [[nodiscard]] bool mayUse(std::size_t index, const model::Node& node, const model::PodShape& shape);
    [[nodiscard]] bool mayBecomeOpen(std::size_t index, const model::Node& node,
                                     const model::PodShape& shape);
    void forget(std::size_t index) { known_[index] = matching_[index] = Known::kNo; }

   private:
    enum class Known : char { kNo, kYes, kRefuses };
    std::vector<Known> known_;
    std::vector<Known> matching_;
    std::int64_t cost_;
    std::int64_t* work_;
  };

  NodeRefusals() = default;
  NodeRefusals(const NodeRefusals&) = delete;
  NodeRefusals& operator=(const NodeRefusals&) = delete;
  ~NodeRefusals() = default;

  // Brings it up to the list: what is known of a node that changed does not hold.
  void follow(const model::SharedList<model::Node>& nodes);
  // Valid until it is called again.
  [[nodiscard]] Answers& of(const model::PodShape& shape);
  // What long constraints have cost since it was asked last, in nodes of a WorkBudget: a template may compare
  // each node with a thousand labels, which takes a hundred times as long as to look at its room.
  [[nodiscard]] std::int64_t takeWork() { return std::exchange(work_, 0); }

 private:
  void forgetAll();

  model::SharedList<model::Node> nodes_;
  std::unordered_map<std::string, Answers> byConstraints_;
  std::size_t text_ = 0;  // of all keys
  std::int64_t work_ = 0;
};

// The same with what a request remembers, or without. Valid until another one is made.
class NodeOpenness {
 public:
  NodeOpenness(const PlaceRequest& request, const model::PodShape& shape);
  [[nodiscard]] bool mayUse(std::size_t index, const model::Node& node) const;
  [[nodiscard]] bool mayBecomeOpen(std::size_t index, const model::Node& node) const;

 private:
  const model::PodShape& shape_;
  NodeRefusals::Answers* known_;
};

}  // namespace trainyard::core
