#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// Divides the reservations of a cycle equally among the queues that have pending jobs, and among the
// namespaces that have some. Each namespace gets at least one, as long as more are left than there are queues
// without any. A reservation costs a search for its holder's expected start.
//
// (Rejected: equal parts by namespace alone. A tenant with nine namespaces had all of them. Equal parts by
// queue in any case: an unused one was lost to the second namespace of another queue.)
class ReservationParts {
 public:
  static constexpr int kMax = 8;

  // Counts the queue and the namespace of a pending job.
  void addWaiting(const std::string& ns, QueueTree::Index queue) {
    ofNamespace_.try_emplace(ns, 0);
    ofQueue_.try_emplace(queue, 0);
  }

  [[nodiscard]] bool hasLeft(const std::string& ns, QueueTree::Index queue) const {
    if (made_ >= kMax) return false;
    if (isWithin(ofNamespace_, ns) && isWithin(ofQueue_, queue)) return true;
    const auto own = ofNamespace_.find(ns);
    return own != ofNamespace_.end() && own->second == 0 && kMax - made_ > queuesWithout();
  }

  void take(const std::string& ns, QueueTree::Index queue) {
    ++made_;
    ++ofNamespace_[ns];
    ++ofQueue_[queue];
  }

 private:
  [[nodiscard]] int queuesWithout() const {
    return static_cast<int>(
        std::count_if(ofQueue_.begin(), ofQueue_.end(), [](const auto& each) { return each.second == 0; }));
  }

  template <typename Key>
  [[nodiscard]] static bool isWithin(const std::map<Key, int>& made, const Key& key) {
    const auto own = made.find(key);
    return own == made.end() || own->second < std::max(1, kMax / static_cast<int>(made.size()));
  }

  int made_ = 0;
  std::map<std::string, int> ofNamespace_;
  std::map<QueueTree::Index, int> ofQueue_;
};

}  // namespace trainyard::core
