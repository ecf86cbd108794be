#include "core/queues/guarantee_shares.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/queues/queue_share.h"

namespace trainyard::core {

using Index = QueueTree::Index;

std::int64_t gpusOf(const QuotaDimensions& dimensions, const Amounts& amounts) {
  std::int64_t gpus = 0;
  for (std::size_t d = 0; d < dimensions.cpu(); ++d) gpus = base::saturatingAdd(gpus, amounts[d]);
  return gpus;
}

GuaranteeShares::GuaranteeShares(const QueueTree& tree)
    : tree_(tree), needed_(neededOnGpuNodes()), covered_(tree.size(), tree.dimensions().none()) {
  for (std::size_t d = tree.dimensions().cpu(); d < tree.dimensions().size(); ++d) {
    if (!tree.dimensions().isType(d)) divide(d);
  }
}

// The largest factor by which all fits, by bisection: what is covered never falls if the factor rises.
void GuaranteeShares::divide(std::size_t dimension) {
  const std::vector<Claim> claims = claimsOf(dimension);
  const std::int64_t all = divisible(dimension);
  if (cover(claims, QueueTree::kCluster, dimension, kShareUnit) <= all) return;
  std::int64_t fits = 0;
  std::int64_t exceeds = kShareUnit;
  while (exceeds - fits > 1) {
    const std::int64_t middle = fits + (exceeds - fits) / 2;
    (cover(claims, QueueTree::kCluster, dimension, middle) <= all ? fits : exceeds) = middle;
  }
  cover(claims, QueueTree::kCluster, dimension, fits);
}

std::int64_t GuaranteeShares::cover(const std::vector<Claim>& claims, Index at, std::size_t dimension,
                                    std::int64_t factor) {
  const auto reduced = [&](std::int64_t amount) {
    return factor == kShareUnit || amount == 0 ? amount : base::scaled(amount, factor, kShareUnit);
  };
  std::int64_t sum = reduced(claims[at].ownGpus);
  for (const Index child : tree_.node(at).children)
    sum = base::saturatingAdd(sum, cover(claims, child, dimension, factor));
  return covered_[at][dimension] = std::max({sum, claims[at].byName, reduced(claims[at].unnamed)});
}

// All that there is. If more of another resource is guaranteed than the nodes have, as much more: each queue
// has its part, and the administrator has promised too much.
std::int64_t GuaranteeShares::divisible(std::size_t dimension) const {
  const Amounts& installed = tree_.capacity().installed();
  const Amounts& guaranteed = tree_.node(QueueTree::kCluster).guaranteed;
  const std::size_t end =
      dimension < tree_.dimensions().firstType() ? tree_.dimensions().firstType() : tree_.dimensions().cpu();
  std::int64_t most = installed[dimension];
  for (std::size_t of = 0; of < end; ++of) {
    if (of != dimension && installed[of] > 0)
      most = std::max(most, base::scaled(installed[dimension], guaranteed[of], installed[of]));
  }
  return most;
}

std::vector<GuaranteeShares::Claim> GuaranteeShares::claimsOf(std::size_t dimension) const {
  const QuotaDimensions& dimensions = tree_.dimensions();
  const Amounts& installed = tree_.capacity().installed();
  const auto as = [&](std::int64_t part, std::int64_t whole) {
    return part <= 0 || whole <= 0 ? 0 : base::scaled(installed[dimension], part, whole);
  };
  const auto name = nameOf(dimension);
  const std::int64_t gpus = gpusOf(dimensions, installed);
  std::vector<Claim> claims(tree_.size());
  for (Index i = 0; i < claims.size(); ++i) {
    const QueueTree::Node& node = tree_.node(i);
    const bool isNamed = name && node.guaranteed[*name] > 0;
    Claim& claim = claims[i];
    if (dimension < dimensions.firstType()) {
      claim.byName = node.guaranteed[dimension];
      for (std::size_t of = 0; of < dimensions.firstType() && !isNamed; ++of)
        claim.unnamed =
            std::max(claim.unnamed, as(std::min(node.guaranteed[of], installed[of]), installed[of]));
      continue;
    }
    std::int64_t ownGpus = gpusOf(dimensions, node.guaranteed);
    for (const Index child : node.children)
      ownGpus = base::saturatingSubtract(ownGpus, gpusOf(dimensions, tree_.node(child).guaranteed));
    claim.ownGpus = as(ownGpus, gpus);
    for (const Needed& of : needed_) {
      const std::int64_t needed = neededBy(i, of);
      if (of.beside == dimension) claim.byName = needed;
      if (!isNamed) claim.unnamed = std::max(claim.unnamed, as(needed, installed[of.beside]));
    }
  }
  return claims;
}

// The dimension in which guarantees name the resource of this one.
std::optional<std::size_t> GuaranteeShares::nameOf(std::size_t dimension) const {
  const QuotaDimensions& dimensions = tree_.dimensions();
  for (std::size_t named = dimensions.cpu(); named < dimensions.firstType(); ++named) {
    if (named == dimension || dimensions.gpuNodeResourceOf(named) == dimension) return named;
  }
  return std::nullopt;
}

std::vector<GuaranteeShares::Needed> GuaranteeShares::neededOnGpuNodes() const {
  const QuotaDimensions& dimensions = tree_.dimensions();
  const Amounts& installed = tree_.capacity().installed();
  std::vector<Needed> found;
  for (std::size_t named = dimensions.cpu(); named < dimensions.firstType(); ++named) {
    const auto beside = dimensions.gpuNodeResourceOf(named);
    if (!beside || installed[*beside] <= 0) continue;
    const std::int64_t elsewhere = base::saturatingSubtract(installed[named], installed[*beside]);
    const std::int64_t amount =
        base::saturatingSubtract(tree_.node(QueueTree::kCluster).guaranteed[named], elsewhere);
    if (amount > 0) found.push_back({named, *beside, std::min(amount, installed[*beside])});
  }
  return found;
}

// The queue's part of it.
std::int64_t GuaranteeShares::neededBy(Index queue, const Needed& of) const {
  const std::int64_t ofAll = tree_.node(QueueTree::kCluster).guaranteed[of.named];
  return base::scaled(of.amount, tree_.node(queue).guaranteed[of.named], ofAll);
}

}  // namespace trainyard::core
