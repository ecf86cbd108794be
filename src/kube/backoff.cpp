#include "kube/backoff.h"

#include <algorithm>

namespace trainyard::kube {

base::Instant::duration Backoff::next(base::Instant now) {
  const bool fresh = current_ == base::Instant::duration::zero() || now - lastEnd_ > options_.calmAfter;
  // The cap is halved before the jitter, so that delays at the cap still differ between clients.
  current_ = std::min(fresh ? options_.initial : current_ * 2, options_.cap / 2);
  const base::Instant::duration delay(rng_.between(current_.count(), current_.count() * 2));
  lastEnd_ = now + delay;
  return delay;
}

}  // namespace trainyard::kube
