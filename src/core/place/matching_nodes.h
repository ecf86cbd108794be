#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/place/problem.h"

namespace trainyard::core {

// The nodes that each kind of a gang's members may use: now, and if all nodes were empty and reopened.
class MatchingNodes {
 public:
  // Both must outlive this. `empty`: the same problem on empty nodes.
  MatchingNodes(const PlaceProblem& now, const PlaceProblem& empty);

  // By position: the template matches the node.
  [[nodiscard]] const std::vector<char>& matching(std::size_t kind) const { return matching_[kind]; }
  // The first kind whose template matches no node.
  [[nodiscard]] std::optional<std::size_t> kindWithoutMatch() const;
  // By kind and position: and the node is open now.
  [[nodiscard]] const std::vector<std::vector<char>>& openNow() const { return open_; }
  // `problem`: one of the two.
  [[nodiscard]] bool has(std::size_t kind, std::size_t position, const PlaceProblem& problem) const {
    return (&problem == &empty_ ? matching_ : open_)[kind][position] != 0;
  }
  // Why the node is closed although its free capacity would help, as "is cordoned"; nothing if it is not.
  [[nodiscard]] std::optional<std::string> closedFor(std::size_t position) const;

 private:
  using Kind = PlaceProblem::Kind;

  [[nodiscard]] std::vector<char> matchingNodes(const Kind& kind) const;
  [[nodiscard]] std::vector<char> openNodes(const Kind& kind, const std::vector<char>& matching) const;

  const PlaceProblem& now_;
  const PlaceProblem& empty_;
  std::vector<std::vector<char>> matching_;
  std::vector<std::vector<char>> open_;
};

}  // namespace trainyard::core
