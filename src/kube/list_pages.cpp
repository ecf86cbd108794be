#include "kube/list_pages.h"

#include <algorithm>

namespace trainyard::kube {
namespace {

// The limit of one page: about ten of the largest objects that the API server accepts.
constexpr std::size_t kMaxObjectBytes = std::size_t{16} << 20;
// The limit of an unpaged list, used if paging took too long.
constexpr std::size_t kMaxListBytes = std::size_t{64} << 20;
constexpr int kShrink = 4;

}  // namespace

std::size_t ListPages::maxBytes() const {
  if (unpaged_) return kMaxListBytes;
  return size_ == 1 ? std::max(kMaxObjectBytes, maxBytes_) : maxBytes_;
}

// Twice as many objects then still take at most half of the limit.
void ListPages::pageCame(std::size_t bytes) {
  if (!unpaged_ && bytes < maxBytes_ / 4) size_ = std::min(size_ * 2, maxSize_);
}

bool ListPages::shrink() {
  if (unpaged_ || size_ <= 1) return false;
  size_ = std::max(size_ / kShrink, 1);
  return true;
}

}  // namespace trainyard::kube
