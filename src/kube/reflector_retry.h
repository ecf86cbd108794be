#pragma once

#include "base/error.h"
#include "base/rng.h"
#include "base/time.h"
#include "kube/backoff.h"
#include "kube/reflector_watch.h"

namespace trainyard::kube {

// The next step of a reflector after a failure.
struct ReflectorStep {
  enum class Kind { kList, kWatch };
  Kind kind = Kind::kList;
  base::Instant::duration delay{};
};

// Decides what a reflector does after a failure, and when.
class ReflectorRetry {
 public:
  // `rng`: of the reflector; it must outlive this object.
  ReflectorRetry(base::Instant::duration maxDelay, base::Rng& rng)
      : rng_(rng), backoff_({.cap = maxDelay}, rng.split()) {}

  void listBegan(base::Instant now) { listBegan_ = now; }
  // A list or a watch worked.
  void succeeded() { failedWatches_ = 0; }

  // A list failed, or a line of a watch cannot be read.
  [[nodiscard]] ReflectorStep afterList(const base::Error& error, base::Instant now);
  // The watch ended as planned, but at once and without a line. Another one at once would be a busy loop.
  [[nodiscard]] ReflectorStep afterEmptyWatch(base::Instant now);
  // The watch broke, or was refused by its status or by an ERROR event.
  [[nodiscard]] ReflectorStep afterWatch(const base::Error& error, const ReflectorWatch& watch,
                                         base::Instant now);

 private:
  [[nodiscard]] base::Instant::duration delayFor(const base::Error& error, base::Instant now);

  base::Rng& rng_;
  Backoff backoff_;
  base::Instant listBegan_{};
  int failedWatches_ = 0;
};

}  // namespace trainyard::kube
