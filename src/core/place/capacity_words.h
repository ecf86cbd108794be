#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/place/able_domain.h"
#include "core/place/matching_nodes.h"
#include "core/place/problem.h"
#include "model/job.h"

namespace trainyard::core {

// What a gang needs and what domains have, in the words and numbers of messages.
class CapacityWords {
 public:
  using Range = Domains::Range;

  CapacityWords(const PlaceProblem& now, const PlaceProblem& empty, const MatchingNodes& open)
      : now_(now), empty_(empty), open_(open) {}

  // "needs 4 nodes with 8 nvidia.com/gpu each in one rack". The range says which resources are short.
  [[nodiscard]] std::string needs(const PlaceProblem& problem, Range range, std::size_t level) const;
  // "has 3", "can hold 9", "can hold 3 and 2".
  [[nodiscard]] std::string has(const DomainCapacity& best) const;
  // As above, for a gang that would fit if it could spread over the whole cluster.
  [[nodiscard]] std::string hasInAll() const;
  // "n3 has 5" or "n3 has 8 nvidia.com/gpu and 100Gi memory": the node that comes closest to one member.
  [[nodiscard]] std::string bestNode(const PlaceProblem& problem, std::size_t kind) const;
  // No node has room for a member of this kind.
  [[nodiscard]] std::string nothingFree(std::size_t kind) const;
  // "worker/ps".
  [[nodiscard]] std::string rolesOf(std::size_t kind) const;

  [[nodiscard]] model::Shortfall shortfall(const PlaceProblem& problem, const DomainCapacity& best,
                                           std::size_t level) const;

 private:
  using Kind = PlaceProblem::Kind;

  [[nodiscard]] std::size_t nodeCount() const { return now_.domains().nodeCount(); }
  [[nodiscard]] std::int64_t fitsBy(const PlaceProblem& problem, std::size_t kind, Range range,
                                    std::optional<std::size_t> extra) const;
  [[nodiscard]] std::vector<std::size_t> named(const PlaceProblem& problem, std::size_t kind,
                                               Range range) const;
  [[nodiscard]] std::size_t shortKind(const DomainCapacity& best) const;
  [[nodiscard]] bool fillsNodes(std::size_t kind) const;
  [[nodiscard]] std::string resourcesOf(const PlaceProblem& problem, std::size_t kind, Range range) const;
  [[nodiscard]] bool noneHas(std::size_t kind, std::size_t dimension) const;

  const PlaceProblem& now_;
  const PlaceProblem& empty_;
  const MatchingNodes& open_;
};

}  // namespace trainyard::core
