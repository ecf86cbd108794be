#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace trainyard::model {

// A list of shared objects that is itself shared: a copy costs one pointer. An edit of a list with other
// owners first creates a private copy (copy on write).
template <typename T>
class SharedList {
 public:
  using Pointer = std::shared_ptr<const T>;
  using Items = std::vector<Pointer>;
  using value_type = Pointer;
  using const_iterator = typename Items::const_iterator;

  SharedList() = default;
  explicit SharedList(Items items) : items_(std::make_shared<Items>(std::move(items))) {}

  [[nodiscard]] const Items& items() const {
    static const Items kNone;
    return items_ ? *items_ : kNone;
  }
  [[nodiscard]] const_iterator begin() const { return items().begin(); }
  [[nodiscard]] const_iterator end() const { return items().end(); }
  [[nodiscard]] std::size_t size() const { return items().size(); }
  [[nodiscard]] bool empty() const { return items().empty(); }
  [[nodiscard]] const Pointer& operator[](std::size_t at) const { return items()[at]; }
  [[nodiscard]] const Pointer& front() const { return items().front(); }
  [[nodiscard]] const Pointer& back() const { return items().back(); }

  // The item of this key, or of this name where items have no key, in a list that is sorted by it; null if
  // there is none.
  template <typename Key>
  [[nodiscard]] const T* find(const Key& key) const {
    const std::size_t at = positionOf(key);
    return at == size() ? nullptr : items()[at].get();
  }
  // Its position; size() if there is none.
  template <typename Key>
  [[nodiscard]] std::size_t positionOf(const Key& key) const {
    const auto at = std::lower_bound(
        begin(), end(), key, [](const Pointer& item, const Key& wanted) { return keyOf(*item) < wanted; });
    return at == end() || keyOf(**at) != key ? size() : static_cast<std::size_t>(at - begin());
  }

  // Valid until the list is copied.
  [[nodiscard]] Items& edit() {
    if (!items_) items_ = std::make_shared<Items>();
    if (items_.use_count() != 1) items_ = std::make_shared<Items>(*items_);
    return *items_;
  }
  void push_back(Pointer item) { edit().push_back(std::move(item)); }  // NOLINT(*-naming)

  // The same list object, not an equal one.
  [[nodiscard]] bool isSameAs(const SharedList& other) const { return items_ == other.items_; }
  // Equal if both hold the same objects.
  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.isSameAs(b) || a.items() == b.items();
  }

 private:
  [[nodiscard]] static const auto& keyOf(const T& item) {
    if constexpr (requires { item.key; }) {
      return item.key;
    } else {
      return item.name;
    }
  }

  std::shared_ptr<Items> items_;
};

}  // namespace trainyard::model
