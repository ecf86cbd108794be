#pragma once

#include <cstddef>
#include <optional>
#include <utility>

namespace trainyard::kube {

// Decides how many objects a page of a list has: fewer after a page that was too large, and more again while
// objects are small.
class ListPages {
 public:
  // At most `pageSize` objects, and `pageBytes` of a page with several objects.
  ListPages(int pageSize, std::size_t pageBytes)
      : maxSize_(pageSize), maxBytes_(pageBytes), size_(pageSize) {}

  void beginList() { unpaged_ = std::exchange(nextUnpaged_, false); }
  // The next list comes in one piece.
  void requestUnpaged() { nextUnpaged_ = true; }

  // Of the next page. No value: the list comes in one piece.
  [[nodiscard]] std::optional<int> maxObjects() const {
    return unpaged_ ? std::nullopt : std::optional(size_);
  }
  [[nodiscard]] std::size_t maxBytes() const;

  void pageCame(std::size_t bytes);
  // The page was too large. Returns false if it cannot be smaller.
  [[nodiscard]] bool shrink();

 private:
  const int maxSize_;
  const std::size_t maxBytes_;
  int size_;
  bool unpaged_ = false;      // of the list in progress
  bool nextUnpaged_ = false;  // of the next list
};

}  // namespace trainyard::kube
