#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "core/schedule/equivalence_key.h"
#include "core/timeline/ends.h"

namespace trainyard::core {

// The searches of this cycle that found nothing. An equivalent job would find nothing either until a gang
// starts, which also means that capacity may have been released.
class FailedSearches {
 public:
  void onStart();
  void onPreemption() { noneSmaller_.clear(); }

  // No gang can be preempted for the job, or for more than the minimum of an elastic gang by its guarantee.
  [[nodiscard]] bool hasClaim(const EquivalenceKey& key) const { return claims_.contains(key); }
  void addClaim(const EquivalenceKey& key) { claims_.insert(key); }
  [[nodiscard]] bool hasGuaranteedClaim(const EquivalenceKey& key) const {
    return guaranteedClaims_.contains(key);
  }
  void addGuaranteedClaim(const EquivalenceKey& key) { guaranteedClaims_.insert(key); }

  // No gang gives an elastic gang with this expected run, or a longer one, more than its minimum.
  [[nodiscard]] bool hasShrink(const EquivalenceKey& key, double expectedRun) const;
  void addShrink(const EquivalenceKey& key, double expectedRun) { shrinks_[key] = expectedRun; }

  // An elastic gang has no placement even at its minimum.
  [[nodiscard]] bool hasMinimum(const EquivalenceKey& key, int minimum) const {
    return noneSmaller_.contains({key, minimum});
  }
  void addMinimum(const EquivalenceKey& key, int minimum) { noneSmaller_.insert({key, minimum}); }

  // No placement at all: the index of the job in PendingExplainer::lastUnplaced().
  [[nodiscard]] bool hasUnplaced() const { return !unplaced_.empty(); }
  [[nodiscard]] std::optional<std::size_t> unplaced(const EquivalenceKey& key) const;
  void addUnplaced(const EquivalenceKey& key, std::size_t index) { unplaced_.emplace(key, index); }

  // Equivalent jobs that found only a placement that is kept for another gang.
  struct HeldBackKey {
    QueueTree::Index queue = QueueTree::kCluster;
    std::uint32_t shape = 0;
    std::size_t widest = 0;
    bool preemptible = false;
    bool checkpointable = false;
    Basis basis = Basis::kGuess;  // of the expected run
    std::optional<std::chrono::seconds> deadline = std::nullopt;
    friend auto operator<=>(const HeldBackKey&, const HeldBackKey&) = default;
  };
  struct HeldBack {
    std::chrono::seconds run{0};
    bool briefly = false;
    std::size_t by = 0;  // index of the reservation
  };
  [[nodiscard]] bool hasHeldBack() const { return !heldBack_.empty(); }
  // Nothing if the run is shorter than the one that was held back.
  [[nodiscard]] std::optional<HeldBack> heldBack(const HeldBackKey& key, std::chrono::seconds run) const;
  void addHeldBack(const HeldBackKey& key, const HeldBack& heldBack) { heldBack_[key] = heldBack; }

 private:
  std::unordered_set<EquivalenceKey, EquivalenceHash> claims_;
  std::unordered_set<EquivalenceKey, EquivalenceHash> guaranteedClaims_;
  std::map<EquivalenceKey, double> shrinks_;
  std::set<std::pair<EquivalenceKey, int>> noneSmaller_;
  std::unordered_map<EquivalenceKey, std::size_t, EquivalenceHash> unplaced_;
  std::map<HeldBackKey, HeldBack> heldBack_;
};

}  // namespace trainyard::core
