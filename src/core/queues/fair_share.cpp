#include "core/queues/fair_share.h"

#include <algorithm>
#include <numeric>

#include "base/saturating.h"

namespace trainyard::core {
namespace {

using Index = QueueTree::Index;

struct Claim {
  std::int64_t guaranteed = 0;
  std::int64_t use = 0;  // the most that it could use
  std::int64_t weight = 1;
  std::int64_t share = 0;
};

// Gives each claim its part of `amount`.
void pour(std::vector<Claim>& claims, std::int64_t amount) {
  std::int64_t owed = 0;
  for (Claim& claim : claims) {
    claim.share = std::min(claim.guaranteed, claim.use);
    owed = base::saturatingAdd(owed, claim.share);
  }
  // A cluster that lost nodes may hold less than it guarantees: guarantees are then cut in proportion.
  if (owed > amount) {
    for (Claim& claim : claims) {
      claim.share = base::scaled(claim.share, amount, owed);
    }
    return;
  }
  std::int64_t left = amount - owed;
  std::vector<Claim*> open;
  for (Claim& claim : claims) open.push_back(&claim);
  std::int64_t weights = 0;
  // A claim that needs no more than its part of the rest gets what it needs; the others share what remains.
  for (bool closed = true; closed;) {
    closed = false;
    weights = 0;
    for (const Claim* claim : open) weights += claim->weight;
    const std::int64_t pot = left;
    std::erase_if(open, [&](Claim* claim) {
      const std::int64_t lacks = claim->use - claim->share;
      if (lacks > base::scaled(pot, claim->weight, weights)) return false;
      claim->share += lacks;
      left -= lacks;
      return closed = true;
    });
  }
  const std::int64_t pot = left;
  for (Claim* claim : open) {
    const std::int64_t part = base::scaled(pot, claim->weight, weights);
    claim->share += part;
    left -= part;
  }
  // The remainder is less than one unit per claim: it goes unit by unit, to the heavier first.
  std::stable_sort(open.begin(), open.end(),
                   [](const Claim* a, const Claim* b) { return a->weight > b->weight; });
  for (Claim* claim : open) {
    if (left-- <= 0) return;
    ++claim->share;
  }
}

class Pouring {
 public:
  Pouring(const QueueTree& tree, std::size_t dimension, const std::vector<std::int64_t>& waiting)
      : tree_(tree),
        dimension_(dimension),
        waiting_(waiting),
        use_(tree.size(), 0),
        shares_(tree.size(), 0) {}

  std::vector<std::int64_t> run() {
    measure(QueueTree::kCluster);
    give(QueueTree::kCluster, tree_.capacity().available()[dimension_]);
    return std::move(shares_);
  }

 private:
  std::int64_t ownUse(Index index) const {
    return base::saturatingAdd(tree_.node(index).ownUsage[dimension_], waiting_[index]);
  }

  void measure(Index index) {
    std::int64_t use = ownUse(index);
    for (const Index child : tree_.node(index).children) {
      measure(child);
      use = base::saturatingAdd(use, use_[child]);
    }
    use_[index] = std::min(use, tree_.node(index).limit[dimension_]);
  }

  void give(Index index, std::int64_t amount) {
    shares_[index] = amount;
    const auto& children = tree_.node(index).children;
    if (children.empty()) return;
    std::vector<Claim> claims = {{.use = ownUse(index)}};
    for (const Index child : children) {
      const auto& node = tree_.node(child);
      claims.push_back(
          {.guaranteed = node.guaranteed[dimension_], .use = use_[child], .weight = node.weight});
    }
    pour(claims, amount);
    for (std::size_t i = 0; i < children.size(); ++i) give(children[i], claims[i + 1].share);
  }

  const QueueTree& tree_;
  std::size_t dimension_;
  const std::vector<std::int64_t>& waiting_;
  std::vector<std::int64_t> use_;
  std::vector<std::int64_t> shares_;
};

}  // namespace

std::vector<std::int64_t> fairShares(const QueueTree& tree, std::size_t dimension,
                                     const std::vector<std::int64_t>& waiting) {
  return Pouring(tree, dimension, waiting).run();
}

}  // namespace trainyard::core
