#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "model/shared_list.h"

namespace trainyard::kube {

// How a cache keeps a type. Specialised in the headers of the caches (cluster_cache.h):
//   using Key; kKind for log lines; keyOf(object); keyOf(codec::ObjectMeta); same(before, after).
template <typename T>
struct CacheTraits;

// Objects by key, and the same objects as a list for snapshots. A snapshot costs one pointer; the first
// change after it copies the list.
template <typename T>
class CachedObjects {
 public:
  using Traits = CacheTraits<T>;
  using Key = typename Traits::Key;
  using Pointer = std::shared_ptr<const T>;
  using Map = std::map<Key, Pointer>;
  // Before and after: null if it was added or removed.
  using Change = std::pair<Pointer, Pointer>;

  // Null if there is none.
  [[nodiscard]] Pointer find(const Key& key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  // Sorted by key. A returned list never changes.
  [[nodiscard]] model::SharedList<T> all() const {
    handedOut_ = true;
    return list_;
  }
  [[nodiscard]] std::size_t size() const { return objects_.size(); }

  // Returns the object that this one replaces: null if it is new, and `after` itself if nothing changes.
  Pointer put(const Key& key, const Pointer& after) {
    Pointer& slot = objects_[key];
    if (slot == after) return after;
    Pointer before = std::exchange(slot, after);
    auto& items = ownItems();
    const auto at = positionOf(items, key);
    if (before) {
      *at = after;
    } else {
      items.insert(at, after);
    }
    return before;
  }

  // Returns the removed object; null if there was none.
  Pointer remove(const Key& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return nullptr;
    Pointer before = std::move(found->second);
    auto& items = ownItems();
    items.erase(positionOf(items, key));
    objects_.erase(found);
    return before;
  }

  // Returns what changed, in the order of the keys.
  [[nodiscard]] std::vector<Change> replaceAll(Map next) {
    const Map before = std::exchange(objects_, std::move(next));
    typename model::SharedList<T>::Items items;
    items.reserve(objects_.size());
    for (const auto& [key, object] : objects_) items.push_back(object);
    list_ = model::SharedList<T>(std::move(items));
    handedOut_ = false;
    return differences(before, objects_);
  }

 private:
  using Items = typename model::SharedList<T>::Items;

  // Both maps are sorted: one pass finds the removed, changed and added objects.
  static std::vector<Change> differences(const Map& before, const Map& now) {
    std::vector<Change> changes;
    auto old = before.begin();
    for (const auto& [key, after] : now) {
      for (; old != before.end() && old->first < key; ++old) changes.emplace_back(old->second, nullptr);
      const bool known = old != before.end() && old->first == key;
      if (!known) {
        changes.emplace_back(nullptr, after);
        continue;
      }
      if (old->second != after) changes.emplace_back(old->second, after);
      ++old;
    }
    for (; old != before.end(); ++old) changes.emplace_back(old->second, nullptr);
    return changes;
  }

  // Returns a list that no snapshot shares: the first change after a snapshot copies it, later ones do not.
  // (Rejected: the list's reference count, which another thread may be changing.)
  Items& ownItems() {
    if (std::exchange(handedOut_, false)) list_ = model::SharedList<T>(list_.items());
    return list_.edit();
  }
  static auto positionOf(Items& items, const Key& key) {
    return std::lower_bound(items.begin(), items.end(), key, [](const Pointer& item, const Key& wanted) {
      return Traits::keyOf(*item) < wanted;
    });
  }

  Map objects_;
  model::SharedList<T> list_;  // the same objects, in the same order
  mutable bool handedOut_ = false;
};

}  // namespace trainyard::kube
