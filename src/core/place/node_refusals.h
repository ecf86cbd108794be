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

// Caches which nodes refuse which constraints, free capacity aside (nodeRefusal()), and which might accept
// them once the nodes are well (templateMatches()). Thousands of placements need this for the same nodes and
// the same few constraints. Assumes what CycleCache assumes.
class NodeRefusals {
 public:
  // The answers for one set of constraints, by the nodes' index in the list.
  class Answers {
   public:
    Answers(std::size_t nodes, const model::PodShape& shape, std::int64_t& work);
    // `shape` must have these constraints.
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

  // Updates the cache to the list: the answers for a changed node are dropped.
  void follow(const model::SharedList<model::Node>& nodes);
  // Valid until the next call.
  [[nodiscard]] Answers& of(const model::PodShape& shape);
  // The cost of long constraints since the last call, in nodes of a WorkBudget. A template may compare each
  // node with a thousand labels, which takes a hundred times as long as its free capacity.
  [[nodiscard]] std::int64_t takeWork() { return std::exchange(work_, 0); }

 private:
  void forgetAll();

  model::SharedList<model::Node> nodes_;
  std::unordered_map<std::string, Answers> byConstraints_;
  std::size_t text_ = 0;  // size of all keys
  std::int64_t work_ = 0;
};

// As NodeRefusals::Answers, with the cache of a request or without one. Valid until the next is made.
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
